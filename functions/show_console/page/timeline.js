// What happened to a job, in order, and what comes next.

function timelineView(job) {
  const steps = [...happened(job), ...ahead(job)];
  let before = null;
  const items = steps.map((step, number) => {
    const since = before !== null && step.time ? at(step.time) - before : null;
    if (step.time && !step.ahead) before = at(step.time);
    return stepView(step, number, step.ahead ? null : since);
  });
  return h("ol", { class: "timeline" }, items);
}

function stepView(step, number, since) {
  return h(
    "li",
    { key: `${number} ${step.name}`, class: `${step.tone ?? ""} ${step.ahead ? "ahead" : ""}` },
    h(
      "div",
      { class: "what" },
      h("strong", null, step.name),
      step.by && h("span", { class: "quiet" }, " ", step.by),
    ),
    step.detail && h("div", { class: "detail" }, step.detail),
    h(
      "div",
      { class: "time" },
      step.time && moment(step.time, clockAndDay(at(step.time))),
      since !== null && since > 0 && h("span", { class: "since" }, `+${took(since)}`),
      step.until && h("span", { class: "since" }, step.until),
    ),
  );
}

function by(worker) {
  return worker ? ["by ", foreign(worker)] : null;
}

function happened(job) {
  const created = { name: "Created", time: job.created_at, by: by(job.created_by), rank: 0 };
  const failures = failuresOf(job);
  const steps = [created, ...failures];
  const { available, claimed } = timesOf(job);
  if (available <= now() && available > at(job.created_at)) {
    steps.push({ name: "Ready", time: job.available_at, rank: 2 });
  }
  if (claimed !== null) {
    const waited = claimed - available;
    const detail = waited >= 0 ? `waited ${took(waited)}` : null;
    steps.push({
      name: "Claimed",
      time: job.claimed_at,
      by: by(job.worker_id),
      detail,
      tone: "running",
      rank: 3,
    });
  }
  const ended = endOf(job);
  if (ended && !failures.some((step) => step.last)) steps.push(ended);
  return steps.sort((a, b) => at(a.time) - at(b.time) || a.rank - b.rank);
}

function failuresOf(job) {
  return (job.errors ?? []).map((failure, number, all) => {
    const last = number === all.length - 1 && job.status === "failed";
    return {
      name: last ? "Failed for good" : "Attempt failed",
      time: failure.failed_at,
      by: by(failure.worker_id),
      detail: foreign(failure.error, { class: "reason" }),
      tone: "failed",
      last,
      rank: 1,
    };
  });
}

function endOf(job) {
  if (!job.finished_at) return null;
  const names = { completed: "Completed", failed: "Failed for good", cancelled: "Cancelled" };
  const { claimed, finished } = timesOf(job);
  const detail = claimed !== null && finished >= claimed ? `ran ${took(finished - claimed)}` : null;
  return { name: names[job.status], time: job.finished_at, detail, tone: job.status, rank: 4 };
}

function ahead(job) {
  const { available } = timesOf(job);
  if (job.status === "pending") {
    if (available <= now())
      return [{ name: "Waits for a worker", ahead: true, until: `for ${span(now() - available)}` }];
    const name = job.retry_count > 0 ? `Retry ${job.retry_count} of ${job.max_retries}` : "Ready";
    return [{ name, ahead: true, time: job.available_at, until: `in ${span(available - now())}` }];
  }
  if (job.status !== "running" || !job.lease_expires_at) return [];
  const left = at(job.lease_expires_at) - now();
  const until = left >= 0 ? `in ${span(left)}` : `${span(-left)} ago`;
  const lease = {
    name: left >= 0 ? "Lease ends" : "Lease ran out",
    ahead: true,
    time: job.lease_expires_at,
    until,
    tone: left < 0 ? "late" : "",
  };
  const asked = {
    name: "Cancel requested",
    ahead: true,
    tone: "late",
    detail: "The worker is asked to stop.",
  };
  return job.cancel_requested ? [asked, lease] : [lease];
}
