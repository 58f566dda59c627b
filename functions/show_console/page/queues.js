// All queues: how deep, how old, how fast.

const OLD = 5 * 60 * SECOND;

function queuesView() {
  const queues = state.queues ?? [];
  const failed = totalOf(queues, "failed");
  return [
    h(
      "div",
      { class: "head" },
      h("h1", { tabindex: "-1" }, "Queues"),
      freshness(),
      h(
        "div",
        { class: "actions" },
        failed > 0 && state.admin !== false && button("Retry all failed…", () => askToRetryAll(queues)),
      ),
    ),
    state.queues === null ? skeleton(4) : [summary(queues), queueTable(queues), nothingYet(queues)],
  ];
}

function freshness() {
  if (state.loadedAt === null) return null;
  const age = Math.floor((now() - state.loadedAt) / SECOND);
  const text = state.trouble
    ? `As of ${clock(state.loadedAt)}`
    : age < 6
      ? "Up to date"
      : `${span(age * SECOND)} old`;
  return h("p", { class: `fresh ${state.trouble ? "stale" : ""}` }, text);
}

// ---------------------------------------------------------------- the whole

function summary(queues) {
  const oldest = oldestOf(queues);
  const rate = (measure) => sumOfRates(queues, measure);
  const figures = [
    figure(
      "Waiting",
      compact(totalOf(queues, "pending")),
      toJobs({ status: "pending" }),
      level(queues, "pending"),
      "pending",
    ),
    figure("Oldest ready", oldest < 0 ? "–" : span(oldest), null, aged(), oldest >= OLD ? "late" : "age"),
    figure(
      "Running",
      compact(totalOf(queues, "running")),
      toJobs({ status: "running" }),
      level(queues, "running"),
      "running",
    ),
    figure(
      "Done / min",
      perMinute(rate(RATES.completed)),
      toJobs({ status: "completed" }),
      flow(RATES.completed),
      "completed",
    ),
    figure(
      "Failed",
      compact(totalOf(queues, "failed")),
      toJobs({ status: "failed" }),
      level(queues, "failed"),
      totalOf(queues, "failed") > 0 ? "failed" : "none",
    ),
  ];
  return h("dl", { class: "summary" }, figures);
}

function figure(name, value, href, points, tone) {
  return h(
    "div",
    { key: name, class: `figure ${tone}` },
    h("dt", null, href ? h("a", { href }, name) : name),
    h("dd", null, value),
    points && spark(points, tone),
  );
}

function level(queues, status) {
  const names = queues.map((queue) => queue.name);
  return state.samples.map(({ at: time, counts }) => [
    time,
    names.reduce((sum, name) => sum + (counts.get(name)?.[status] ?? 0), 0),
  ]);
}

function aged() {
  return state.samples.map((sample) => [sample.at, sample.oldest]);
}

function flow(measure) {
  const total = (sample) => [...sample.counts.values()].reduce((sum, counts) => sum + measure(counts), 0);
  return state.samples.slice(1).map((sample, number) => {
    const before = state.samples[number];
    return [
      sample.at,
      (Math.max(0, total(sample) - total(before)) * 60 * SECOND) / Math.max(1, sample.at - before.at),
    ];
  });
}

function sumOfRates(queues, measure) {
  const rates = queues.map((queue) => rateOf(queue.name, measure)).filter((rate) => rate !== null);
  return rates.length ? rates.reduce((sum, rate) => sum + rate, 0) : null;
}

function oldestOf(queues) {
  return Math.max(...queues.map((queue) => ageOf(queue) ?? -1), -1);
}

function ageOf(queue) {
  if (queue.oldest_pending_at) return Math.max(0, now() - at(queue.oldest_pending_at));
  return queue.oldest_age_seconds === null ? null : queue.oldest_age_seconds * SECOND;
}

// ---------------------------------------------------------------- one by one

const QUEUE_COLUMNS = [
  ["Queue", "name"],
  ["Waiting", "number"],
  ["By priority", "levels"],
  ["Oldest ready", "number"],
  ["Running", "number"],
  ["In / min", "number"],
  ["Done / min", "number"],
  ["Failed", "number"],
  ["", "buttons"],
];

function queueTable(queues) {
  const most = Math.max(...queues.map(waitingOf), 0);
  const heads = QUEUE_COLUMNS.map(([name, kind]) =>
    h(
      "th",
      { scope: "col", role: "columnheader", class: kind },
      name || h("span", { class: "unseen" }, "Actions"),
    ),
  );
  return h(
    "table",
    { class: "grid queues", role: "table" },
    h("caption", { class: "unseen" }, "Queues, with the jobs that wait in them by priority"),
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
    h(
      "tbody",
      { role: "rowgroup" },
      queues.map((queue) => queueRow(queue, most)),
    ),
  );
}

function queueRow(queue, most) {
  const { name, counts, paused } = queue;
  const age = ageOf(queue);
  const link = (status, text) => h("a", { href: toJobs({ status, queue: name }) }, text);
  const cell = (label, kind, ...content) =>
    h("td", { role: "cell", class: kind, "data-label": label }, content);
  return h(
    "tr",
    { key: name, role: "row", class: paused ? "paused" : "" },
    h(
      "th",
      { scope: "row", role: "rowheader", class: "name" },
      h("a", { href: toJobs({ queue: name }) }, name),
      paused && h("span", { class: "tag" }, "Paused"),
    ),
    cell("Waiting", "number strong", link("pending", number(waitingOf(queue)))),
    cell(
      "By priority",
      "levels",
      depthBar(queue, most),
      h(
        "span",
        { class: "legend" },
        PRIORITIES.map((priority) =>
          h(
            "span",
            { class: `level ${priority} ${counts.pending[priority] ? "" : "nil"}` },
            h("i", { "aria-hidden": "true" }),
            `${capital(priority)} `,
            h("b", null, compact(counts.pending[priority] ?? 0)),
          ),
        ),
      ),
    ),
    cell(
      "Oldest ready",
      `number ${age !== null && age >= OLD ? "late" : ""}`,
      age === null ? "–" : span(age),
    ),
    cell("Running", "number", link("running", number(counts.running))),
    cell("In / min", "number", perMinute(rateOf(name, RATES.added))),
    cell("Done / min", "number", perMinute(rateOf(name, RATES.completed))),
    cell("Failed", `number ${counts.failed ? "bad" : ""}`, link("failed", number(counts.failed))),
    h("td", { role: "cell", class: "buttons" }, state.admin !== false && queueButtons(queue)),
  );
}

function queueButtons(queue) {
  const { name, counts, paused } = queue;
  return [
    counts.failed > 0 &&
      button("Retry failed…", () => askToRetryAll([queue]), {
        key: "retry",
        class: "small",
        "aria-label": `Retry failed jobs of ${name}`,
      }),
    paused
      ? button("Resume…", () => askToResume(queue), {
          key: "resume",
          class: "small",
          "aria-label": `Resume ${name}`,
        })
      : button("Pause…", () => askToPause(queue), {
          key: "pause",
          class: "small",
          "aria-label": `Pause ${name}`,
        }),
  ];
}

function nothingYet(queues) {
  if (queues.some((queue) => STATUSES.some((status) => countOf(queue, status) > 0))) return null;
  const line = [
    `curl '${BASE}/jobs'`,
    '-H "Authorization: Bearer $KEY"',
    '-H "Content-Type: application/json"',
    `-d '{"type": "…", "payload": {…}}'`,
  ].join(" \\\n  ");
  return h(
    "div",
    { class: "empty first" },
    h("p", { class: "title" }, "All quiet. No job was added yet."),
    h("p", null, "A producer's key adds the first one:"),
    h("pre", { class: "command", tabindex: "0", "aria-label": "Command" }, h("code", null, line)),
  );
}
