// One job: what became of it, what it carries.

function jobView() {
  const { job, refusal } = state;
  return [
    h(
      "a",
      { class: "back", href: job ? toJobs({ status: job.status, queue: job.queue }) : "#/jobs" },
      "Jobs",
    ),
    h("div", { class: "head job" }, job ? jobHead(job) : h("h1", { tabindex: "-1" }, "Job")),
    refusal && (refusal.status === 404 ? missing() : refused(refusal)),
    job ? jobBody(job) : !refusal && skeleton(8),
  ].filter(Boolean);
}

function jobHead(job) {
  return [
    h("h1", { tabindex: "-1" }, statusIcon(job.status), foreign(job.type)),
    h(
      "p",
      { class: "idline" },
      jobId(job.id),
      button("Copy", () => copy(job.id, "Id"), { class: "plain", "aria-label": "Copy id" }),
    ),
    h("div", { class: "actions" }, mayChange(job) && jobButton(job, "")),
  ];
}

function jobBody(job) {
  return h(
    "div",
    { class: "columns" },
    h(
      "div",
      { class: "main" },
      errorPanel(job),
      h("section", { class: "panel" }, h("h2", null, "Timeline"), timelineView(job)),
    ),
    h("div", { class: "side" }, factsView(job)),
    h(
      "div",
      { class: "wide" },
      valuePanel(job, "payload"),
      isThere(job, "progress") && valuePanel(job, "progress"),
      (job.status === "completed" || isThere(job, "result")) && valuePanel(job, "result"),
    ),
  );
}

function missing() {
  return empty(
    "No such job",
    "Its id may be mistyped, it may have been kept long enough, or this key is not granted its queue.",
  );
}

// Retry takes an admin; cancel also the job's own producer, who is shown its idempotency key.
function mayChange(job) {
  const retryable = job.status === "failed" || job.status === "cancelled";
  return retryable ? state.admin : state.admin || "idempotency_key" in job;
}

function isThere(job, member) {
  return member in job && job[member] !== null;
}

function errorPanel(job) {
  if (!isThere(job, "error")) return null;
  const title = job.status === "failed" ? "Why it failed" : "Its last failure";
  return h(
    "section",
    { key: "error", class: `panel error ${job.status}` },
    h("h2", null, title),
    h("pre", { tabindex: "0", "aria-label": title }, foreign(job.error)),
  );
}

function valuePanel(job, member) {
  const title = capital(member);
  if (!(member in job)) {
    return h(
      "section",
      { key: member, class: "panel withheld" },
      h("h2", null, title),
      h("p", { class: "quiet" }, "Not shown to this key."),
    );
  }
  const value = job[member];
  return h(
    "section",
    { key: member, class: "panel" },
    h(
      "h2",
      null,
      title,
      button("Copy", () => copy(jsonText(value), title), { class: "plain", "aria-label": `Copy ${member}` }),
    ),
    jsonView(member, value),
  );
}

function factsView(job) {
  const facts = [
    ["Status", statusOf(job)],
    ["Queue", h("a", { href: toJobs({ queue: job.queue }) }, job.queue)],
    ["Priority", priorityOf(job.priority)],
    ["Retries", `${job.retry_count} of ${job.max_retries}`],
    ["Ran", job.finished_at && job.claimed_at && ranOf(job)],
    ["Runs", job.status === "running" && whenOf(job)],
    ["Worker", job.worker_id && foreign(job.worker_id)],
    ["Created by", foreign(job.created_by)],
    [
      "Idempotency key",
      "idempotency_key" in job &&
        job.idempotency_key !== null &&
        foreign(job.idempotency_key, { class: "id" }),
    ],
    ["Last change", moment(job.updated_at, `${span(now() - at(job.updated_at))} ago`)],
  ].filter(([, value]) => value);
  const list = facts.map(([name, value]) =>
    h("div", { key: name }, h("dt", null, name), h("dd", null, value)),
  );
  return h("section", { class: "panel facts" }, h("h2", null, "Facts"), h("dl", null, list));
}
