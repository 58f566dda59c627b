// Retrying all failed jobs: many small calls, each of which says whether there is more.

const STEP = 100;
const PATIENT_TRIES = 6;
const IDLE_STEPS = 5;

function askToRetryAll(queues, type = null) {
  const wanted = queues.filter((queue) => queue.counts.failed > 0);
  const total = totalOf(wanted, "failed");
  openDialog({
    kind: "bulk",
    queues: wanted.map((queue) => queue.name),
    type,
    total,
    retried: 0,
    skipped: 0,
    busy: false,
    stopping: false,
    done: false,
    waiting: null,
    error: null,
    before: null,
  });
}

function stopBulk(dialog) {
  dialog.stopping = true;
  render();
}

async function runBulk(dialog) {
  // What fails again while this runs is left, or it would never end. Clocks differ by a little.
  const before = new Date(now() + 3 * SECOND).toISOString();
  Object.assign(dialog, { busy: true, stopping: false, error: null, before: dialog.before ?? before });
  render();
  document.querySelector("dialog [data-first]")?.focus(); // the button that was pressed is gone
  try {
    for (const queue of dialog.queues) await retryQueue(dialog, queue);
    dialog.done = !dialog.stopping;
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof Unreachable)) throw error;
    if (error.isOfTheKey) {
      closeDialog();
      failed(error);
      return;
    }
    if (error.isOfTheRole) state.admin = false;
    dialog.error = reasonOf(error);
  }
  Object.assign(dialog, { busy: false, waiting: null });
  render();
  say(bulkWords(dialog));
  document.querySelector("dialog [data-first]")?.focus();
  refresh();
}

async function retryQueue(dialog, queue) {
  let idle = 0;
  let more = true;
  while (more && !dialog.stopping && idle < IDLE_STEPS) {
    const step = await patiently(dialog, () => retryStep(queue, dialog.type, dialog.before, STEP));
    if (step === null) return;
    dialog.retried += step.retried;
    dialog.skipped += step.skipped;
    idle = step.retried === 0 ? idle + 1 : 0;
    more = step.more;
    render();
  }
}

// Throttling and outages pass; the step is safe to repeat.
async function patiently(dialog, step) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await step();
    } catch (error) {
      if (!error.willPass || tries === PATIENT_TRIES) throw error;
      dialog.waiting = error.message;
      render();
      await new Promise((goOn) => setTimeout(goOn, Math.max(error.retryAfter ?? 0, 2 ** tries * 250)));
      dialog.waiting = null;
      if (dialog.stopping) return null;
    }
  }
}

function bulkWords(dialog) {
  const skipped = dialog.skipped
    ? ` ${many(dialog.skipped, "job")} had moved on and stayed as they were.`
    : "";
  const retried = `${many(dialog.retried, "job")} went back to pending.${skipped}`;
  if (dialog.error) return `Stopped by an error after ${many(dialog.retried, "job")}.`;
  return dialog.done ? retried : `Stopped. ${retried}`;
}

function bulkScope(dialog) {
  const where = dialog.queues.length === 1 ? dialog.queues[0] : many(dialog.queues.length, "queue");
  return dialog.type ? `${where}, type ${dialog.type}` : where;
}

function bulkView(dialog) {
  const started =
    dialog.busy || dialog.done || dialog.retried > 0 || dialog.error !== null || dialog.stopping;
  return started ? bulkRunning(dialog) : bulkQuestion(dialog);
}

function bulkQuestion(dialog) {
  const howMany = dialog.type ? "all" : dialog.total === 1 ? "the one" : `all ${number(dialog.total)}`;
  const jobs = !dialog.type && dialog.total === 1 ? "failed job" : "failed jobs";
  return [
    h("h2", { id: "question" }, `Retry ${howMany} ${jobs}?`),
    h(
      "div",
      { id: "consequence" },
      h(
        "p",
        null,
        "In ",
        h("strong", null, foreign(bulkScope(dialog))),
        ". They go back to pending, can be claimed at once, and ",
        "their retries count from 0 again. What made them fail should be mended first.",
      ),
    ),
    h(
      "div",
      { class: "choices" },
      button("Leave them", closeDialog),
      button(
        dialog.type || dialog.total === 1 ? "Retry" : `Retry ${many(dialog.total, "job")}`,
        () => runBulk(dialog),
        {
          class: "primary",
          "data-first": true,
        },
      ),
    ),
  ];
}

function bulkRunning(dialog) {
  const { retried, total, done, busy, error } = dialog;
  // how many of one type there are is not counted anywhere
  const known = dialog.type === null;
  const title = busy ? "Retrying failed jobs" : done ? "Done" : error ? "Not all were retried" : "Stopped";
  const bar = { class: "bar", "aria-label": "Jobs retried", max: Math.max(total, retried, 1) };
  if (done) bar.value = bar.max;
  else if (known || !busy) bar.value = retried;
  return [
    h("h2", { id: "question" }, title),
    h("progress", { key: bar.value === undefined ? "unknown" : "known", ...bar }),
    h(
      "div",
      { id: "consequence" },
      h(
        "p",
        { class: "figures" },
        h("strong", null, number(retried)),
        known ? ` of ${number(Math.max(total, retried))}` : " retried",
        h("span", { class: "quiet" }, " in ", foreign(bulkScope(dialog))),
      ),
      !busy && h("p", null, bulkWords(dialog)),
      dialog.waiting && h("p", { class: "quiet" }, `${dialog.waiting} Trying again.`),
    ),
    error && h("p", { class: "wrong", role: "alert" }, error),
    h(
      "div",
      { class: "choices" },
      busy
        ? button(dialog.stopping ? "Stopping…" : "Stop", () => stopBulk(dialog), {
            key: "stop",
            disabled: dialog.stopping,
            "data-first": true,
          })
        : [
            button("Close", closeDialog, { key: "close", class: done ? "primary" : "", "data-first": done }),
            !done &&
              button("Go on", () => runBulk(dialog), { key: "go", class: "primary", "data-first": true }),
          ],
    ),
  ];
}
