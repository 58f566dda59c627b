// Nothing is changed without a question, and what came of it is said: on the page and to a screen reader.

function say(text) {
  document.getElementById("said").textContent = text;
}

let noticeTimer;

function notify(text, tone = "good") {
  clearTimeout(noticeTimer);
  state.notice = { text, tone };
  say(text);
  noticeTimer = setTimeout(dismiss, tone === "bad" ? 12 * SECOND : 6 * SECOND);
  render();
}

function dismiss() {
  state.notice = null;
  render();
}

function noticeView() {
  if (!state.notice) return null;
  return h(
    "div",
    { class: `notice ${state.notice.tone}`, key: "notice" },
    h("span", null, state.notice.text),
    button("Dismiss", dismiss, { class: "plain" }),
  );
}

function reasonOf(error) {
  if (error.isOfTheRole) return "This key may not do that: it takes an admin's.";
  if (error.fields?.length) return error.fields.map((one) => `${one.field}: ${one.message}`).join("; ");
  return error.message;
}

// Ask, then act. `act` returns what to say when it is done.
function ask({ title, lines, yes, danger = false, act }) {
  openDialog({ kind: "ask", title, lines, yes, danger, act, busy: false, error: null });
}

function openDialog(dialog) {
  state.dialog = dialog;
  render();
  const element = document.querySelector("dialog");
  element.showModal();
  element.querySelector("[data-first]")?.focus();
}

function closeDialog() {
  const element = document.querySelector("dialog");
  if (element?.open) element.close(); // gives the focus back to where it was
  state.dialog = null;
  render();
  if (document.activeElement === document.body) heading()?.focus({ preventScroll: true });
}

async function act(dialog) {
  if (dialog.busy) return;
  Object.assign(dialog, { busy: true, error: null });
  render();
  try {
    const done = await dialog.act();
    closeDialog();
    notify(done);
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof Unreachable)) throw error;
    if (error.isOfTheKey) {
      closeDialog();
      failed(error);
      return;
    }
    if (error.isOfTheRole) state.admin = false;
    Object.assign(dialog, { busy: false, error: reasonOf(error) });
    render();
  }
  refresh();
}

function dialogView() {
  const { dialog } = state;
  const attributes = {
    key: "dialog",
    "aria-labelledby": "question",
    "aria-describedby": "consequence",
    // Escape, but not while something is under way
    oncancel: (event) => {
      event.preventDefault();
      if (dialog?.kind === "bulk" && dialog.busy) stopBulk(dialog);
      else if (dialog && !dialog.busy) closeDialog();
    },
    // a browser lets nobody hold a dialog open for ever
    onclose: (event) => {
      if (!state.dialog || event.target.open) return;
      if (state.dialog.kind === "bulk") stopBulk(state.dialog);
      state.dialog = null;
      render();
    },
  };
  if (!dialog) return h("dialog", attributes);
  return h("dialog", attributes, dialog.kind === "bulk" ? bulkView(dialog) : askView(dialog));
}

function askView(dialog) {
  return [
    h("h2", { id: "question" }, dialog.title),
    h(
      "div",
      { id: "consequence" },
      dialog.lines.map((line) => h("p", null, line)),
    ),
    dialog.error && h("p", { class: "wrong", role: "alert" }, dialog.error),
    h(
      "div",
      { class: "choices" },
      button(dialog.error ? "Close" : "Leave it", closeDialog, {
        disabled: dialog.busy,
        "data-first": dialog.danger,
      }),
      button(dialog.busy ? "Working…" : dialog.yes, () => act(dialog), {
        class: dialog.danger ? "danger" : "primary",
        "aria-busy": String(dialog.busy),
        "data-first": !dialog.danger,
      }),
    ),
  ];
}

// ---------------------------------------------------------------- the questions

function askToRetry(job) {
  ask({
    title: "Retry this job?",
    lines: [
      [
        "It goes back to ",
        h("strong", null, job.queue),
        " and can be claimed at once. Its retries count from 0 again.",
      ],
      jobLine(job),
    ],
    yes: "Retry job",
    act: async () => {
      await retryJob(job.id);
      return "The job is pending again.";
    },
  });
}

function askToCancel(job) {
  const running = job.status === "running";
  ask({
    title: "Cancel this job?",
    lines: [
      running
        ? "It is running: its worker is asked to stop. A worker that does not look may still complete it."
        : "It is not handed out any more. An admin can retry it as long as it is kept.",
      jobLine(job),
    ],
    yes: "Cancel job",
    danger: true,
    act: async () => {
      const after = await cancelJob(job.id);
      return after.status === "cancelled" ? "The job is cancelled." : "The worker is asked to stop.";
    },
  });
}

function jobLine(job) {
  return h("span", { class: "about" }, statusIcon(job.status), foreign(job.type), jobId(job.id));
}

function askToPause(queue) {
  const ready = waitingOf(queue);
  ask({
    title: `Pause ${queue.name}?`,
    lines: [
      "Within ten seconds no worker gets its jobs any more. Running jobs go on, and new ones are taken in.",
      ready ? `${many(ready, "job")} will wait until you resume it.` : "No job is waiting in it now.",
    ],
    yes: "Pause queue",
    act: async () => {
      await pauseQueue(queue.name);
      return `${queue.name} is paused.`;
    },
  });
}

function askToResume(queue) {
  ask({
    title: `Resume ${queue.name}?`,
    lines: [`Workers get its jobs again within ten seconds. ${many(waitingOf(queue), "job")} wait.`],
    yes: "Resume queue",
    act: async () => {
      await resumeQueue(queue.name);
      return `${queue.name} hands out jobs again.`;
    },
  });
}
