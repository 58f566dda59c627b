// Jobs by status, queue and type, page by page.

const ORDER = {
  pending: "Next first",
  running: "Earliest lease first",
  failed: "Newest first",
  completed: "Newest first",
  cancelled: "Newest first",
};

function jobsView() {
  const { filter } = state.route;
  return [
    h(
      "div",
      { class: "head" },
      h("h1", { tabindex: "-1" }, "Jobs"),
      freshness(),
      h("div", { class: "actions" }, bulkButton(filter)),
    ),
    h(
      "div",
      { class: "filters" },
      statusTabs(filter),
      h("div", { class: "choosers" }, queueChooser(filter), typeChooser(filter)),
    ),
    state.refusal ? refused(state.refusal) : listView(filter),
  ];
}

function bulkButton(filter) {
  if (filter.status !== "failed" || state.admin === false || state.queues === null) return null;
  const queues = state.queues.filter((queue) => filter.queue === null || queue.name === filter.queue);
  if (totalOf(queues, "failed") === 0) return null;
  return button("Retry all failed…", () => askToRetryAll(queues, filter.type));
}

// ---------------------------------------------------------------- what is listed

function statusTabs(filter) {
  const queues = (state.queues ?? []).filter((queue) => filter.queue === null || queue.name === filter.queue);
  const tab = (status, text) =>
    h(
      "a",
      {
        href: toJobs({ ...filter, status }),
        "aria-current": filter.status === status ? "page" : null,
        class: status ?? "all",
      },
      text,
      status && state.queues && h("span", { class: "count" }, compact(totalOf(queues, status))),
    );
  return h(
    "nav",
    { class: "tabs", "aria-label": "Status" },
    tab(null, "All"),
    STATUSES.map((status) => tab(status, capital(status))),
  );
}

function queueChooser(filter) {
  const names = new Set((state.queues ?? []).map((queue) => queue.name));
  if (filter.queue) names.add(filter.queue);
  const options = [...names].map((name) => h("option", { key: name, value: name }, name));
  return h(
    "label",
    null,
    h("span", null, "Queue"),
    h(
      "select",
      { value: filter.queue ?? "", onchange: (event) => choose({ queue: event.target.value }) },
      h("option", { key: "", value: "" }, "All"),
      options,
    ),
  );
}

function typeChooser(filter) {
  const known = [...state.types].sort().map((type) => h("option", { key: type, value: type }));
  return h(
    "label",
    null,
    h("span", null, "Type"),
    h("input", {
      value: filter.type ?? "",
      list: "types",
      placeholder: "All",
      size: 14,
      maxlength: 128,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      onchange: (event) => choose({ type: event.target.value.trim() }),
    }),
    h("datalist", { id: "types" }, known),
  );
}

function choose(change) {
  location.hash = toJobs({ ...state.route.filter, ...change });
}

// ---------------------------------------------------------------- the list

const JOB_COLUMNS = ["Status", "Type", "Id", "Queue", "Priority", "Retries", "When", "Ran", "Worker"];

function listView(filter) {
  const { list } = state;
  if (list === null) return skeleton(10);
  if (list.jobs.length === 0)
    return [nothingListed(filter, list), (list.next || state.pages.number > 0) && pager(list)].filter(
      Boolean,
    );
  const heads = [
    ...JOB_COLUMNS.map((name) =>
      h("th", { scope: "col", role: "columnheader", class: name.toLowerCase() }, name),
    ),
    h(
      "th",
      { scope: "col", role: "columnheader", class: "buttons" },
      h("span", { class: "unseen" }, "Actions"),
    ),
  ];
  return [
    h(
      "table",
      { class: `grid jobs ${state.fresh ? "" : "loading"}`, role: "table" },
      h("caption", { class: "unseen" }, "Jobs"),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
      h("tbody", { role: "rowgroup" }, list.jobs.map(jobRow)),
    ),
    pager(list),
  ];
}

function jobRow(job) {
  const cell = (label, ...content) =>
    h("td", { role: "cell", class: label.toLowerCase(), "data-label": label }, content);
  const moved = job.finished_at ?? job.claimed_at ?? job.available_at;
  return h(
    "tr",
    { key: job.id, role: "row", onclick: (event) => follow(event, job) },
    cell("Status", statusOf(job)),
    h(
      "th",
      { role: "rowheader", scope: "row", class: "type" },
      h("a", { href: toJob(job.id) }, named(job.type)),
    ),
    cell("Id", jobId(job.id)),
    cell("Queue", named(job.queue)),
    cell("Priority", priorityOf(job.priority)),
    cell("Retries", `${job.retry_count} / ${job.max_retries}`),
    cell("When", moment(job.status === "pending" ? job.available_at : moved, whenOf(job))),
    cell("Ran", ranOf(job)),
    cell("Worker", job.worker_id ? named(job.worker_id) : "–"),
    h("td", { role: "cell", class: "buttons" }, state.admin !== false && jobButton(job)),
  );
}

// What the column may cut short is told whole under the pointer.
function named(text) {
  return foreign(text, { title: text });
}

// The whole row leads to the job, unless its text is being selected or something in it was meant.
function follow(event, job) {
  if (event.target.closest("a, button") || !getSelection().isCollapsed) return;
  location.hash = toJob(job.id);
}

function jobButton(job, style = "small") {
  if (job.status === "failed" || job.status === "cancelled") {
    return button("Retry…", () => askToRetry(job), {
      key: "retry",
      class: style,
      "aria-label": `Retry ${job.type} ${job.id}`,
    });
  }
  if (job.status === "pending" || (job.status === "running" && !job.cancel_requested)) {
    return button("Cancel…", () => askToCancel(job), {
      key: "cancel",
      class: style,
      "aria-label": `Cancel ${job.type} ${job.id}`,
    });
  }
  return null;
}

function pager(list) {
  const { number: page } = state.pages;
  const order = state.route.filter.status ? ORDER[state.route.filter.status] : "By status";
  return h(
    "nav",
    { class: "pager", "aria-label": "Pages of the list" },
    h("span", { class: "quiet" }, `${many(list.jobs.length, "job")} on page ${page + 1} · ${order}`),
    h(
      "span",
      { class: "choices" },
      button("Previous", () => turnPage(-1), { key: "previous", disabled: page === 0 }),
      button("Next", () => turnPage(1), { key: "next", disabled: !list.next }),
    ),
  );
}

const NOTHING = {
  pending: ["No job is waiting", "Whatever was added has been taken."],
  running: ["No job is running", "Jobs show up here while a worker holds them."],
  failed: ["Nothing has failed", "A job ends up here when its retries are spent."],
  completed: [
    "No job was completed",
    "Finished jobs are kept for as long as the deployment says, then deleted.",
  ],
  cancelled: ["No job was cancelled", "A cancelled job is kept for a while, and can be retried."],
};

function nothingListed(filter, list) {
  if (list.next) {
    return empty("None in this stretch", "Few jobs are of this type. Next looks further.");
  }
  const [title, line] = NOTHING[filter.status] ?? [
    "No jobs",
    "Nothing was added yet, or it was kept long enough.",
  ];
  const narrowed = [filter.queue && `queue ${filter.queue}`, filter.type && `type ${filter.type}`].filter(
    Boolean,
  );
  return empty(title, narrowed.length ? `In ${narrowed.join(", ")}.` : line);
}
