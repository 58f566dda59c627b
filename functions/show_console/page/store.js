// What the page knows, and how it stays fresh. The address after # says which view is shown.

const EVERY = 4 * SECOND;
const LONGEST_WAIT = 30 * SECOND;
const KEPT_SAMPLES = 150;
const KEY = `jobqueue.key ${BASE}`; // other deployments may answer under other paths of this host

const state = {
  key: null,
  admin: null, // whether the key's role is admin; null: not known yet
  route: { view: "queues" },
  fresh: false, // something of this view was loaded
  loadedAt: null,
  live: true,
  queues: null,
  samples: [], // counts by queue as they were polled the last few minutes, on a clock that nobody sets
  types: new Set(), // that were seen in jobs
  pages: { cursors: [null], number: 0 },
  list: null, // {jobs, next}
  job: null,
  refusal: null, // of this view
  trouble: null, // why the API cannot be reached: {text, failures, retryAt}
  signIn: { busy: false, error: null },
  dialog: null,
  notice: null,
};

// ---------------------------------------------------------------- the key, for this tab only

function storedKey() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null; // storage is off: the key lives as long as the page
  }
}

function storeKey(key) {
  state.key = key;
  try {
    if (key === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, key);
  } catch {
    // as above
  }
}

async function signIn(typed) {
  const key = typed.trim().replace(/^Bearer\s+/i, "");
  if (!/^[\x21-\x7e]+$/.test(key)) {
    signInFailed(key ? "This is no key: it has spaces or characters that no key has." : "Type a key first.");
    return;
  }
  state.signIn = { busy: true, error: null };
  render();
  try {
    state.queues = await getQueues({ key });
  } catch (error) {
    signInFailed(
      error.isOfTheKey ? "The API refused this key. It may be mistyped, revoked or expired." : error.message,
    );
    return;
  }
  state.signIn = { busy: false, error: null };
  storeKey(key);
  say("Signed in.");
  go();
  heading()?.focus();
}

function signInFailed(error) {
  state.signIn = { busy: false, error };
  render();
  document.getElementById("key")?.select();
}

function signOut(why = null) {
  clearTimeout(timer);
  asking?.abort();
  storeKey(null);
  remembered.clear();
  Object.assign(state, {
    admin: null,
    queues: null,
    samples: [],
    types: new Set(),
    list: null,
    job: null,
    loadedAt: null,
    refusal: null,
    trouble: null,
    dialog: null,
    notice: null,
    signIn: { busy: false, error: why },
  });
  render();
  document.getElementById("key")?.focus();
}

// ---------------------------------------------------------------- where we are

function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [view, id] = path.split("/");
  if (view === "jobs" && id) return { view: "job", id: decoded(id) };
  if (view !== "jobs") return { view: "queues" };
  const asked = new URLSearchParams(query);
  const status = STATUSES.includes(asked.get("status")) ? asked.get("status") : null;
  return { view: "jobs", filter: { status, queue: asked.get("queue"), type: asked.get("type") } };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function toJobs(filter) {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
  return query ? `#/jobs?${query}` : "#/jobs";
}

function toJob(id) {
  return `#/jobs/${encodeURIComponent(id)}`;
}

function go() {
  const before = state.route;
  state.route = routeOf(location.hash);
  const isFilter = before.view === "jobs" && state.route.view === "jobs";
  Object.assign(state, { fresh: false, job: null, refusal: null, pages: { cursors: [null], number: 0 } });
  if (!isFilter) state.list = null;
  refresh();
  if (isFilter) return; // the focus stays on it, and the old list until the new one is there
  window.scrollTo(0, 0);
  heading()?.focus({ preventScroll: true });
}

function heading() {
  return document.querySelector("h1");
}

function turnPage(step) {
  const { cursors, number: page } = state.pages;
  if (step > 0 && state.list?.next) cursors[page + 1] = state.list.next;
  state.pages.number = Math.max(0, page + step);
  state.fresh = false;
  refresh().then(() => {
    window.scrollTo(0, 0);
    say(`Page ${state.pages.number + 1}.`);
  });
}

// ---------------------------------------------------------------- refreshing

let timer;
let asking = null;

async function refresh() {
  if (state.key === null) return;
  clearTimeout(timer);
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  render();
  try {
    const loaded = await load(state.route, signal);
    if (signal.aborted) return;
    Object.assign(state, loaded, { fresh: true, loadedAt: now(), refusal: null });
    if (state.trouble) say("The API answers again.");
    state.trouble = null;
    if (state.live) plan(EVERY);
    if (state.admin === null) learnRole(signal);
  } catch (error) {
    if (signal.aborted) return;
    failed(error);
  }
  render();
}

async function load(route, signal) {
  if (route.view === "job") {
    const job = await getJob(route.id, signal);
    return { job, admin: "errors" in job };
  }
  if (route.view === "queues") return sampled(await getQueues({ signal }));
  const cursor = state.pages.cursors[state.pages.number];
  const [queues, list] = await Promise.all([getQueues({ signal }), listJobs(route.filter, cursor, signal)]);
  for (const job of list.jobs) state.types.add(job.type);
  return { ...sampled(queues), list };
}

function failed(error) {
  if (error.isOfTheKey) {
    signOut("The API does not accept this key any more. It may be revoked or expired.");
    return;
  }
  if (error.willPass) {
    const failures = (state.trouble?.failures ?? 0) + 1;
    const wait = Math.min(LONGEST_WAIT, 2 ** failures * SECOND) * (0.75 + Math.random() / 4);
    const delay = Math.max(wait, error.retryAfter ?? 0);
    if (failures === 1) say("The API cannot be reached. What is shown is not fresh.");
    state.trouble = { text: error.message, failures, retryAt: Date.now() + delay };
    plan(delay);
    return;
  }
  if (!(error instanceof Refusal)) throw error; // a mistake of ours: let it be seen
  if (error.slug === "invalid-cursor" && state.pages.number > 0) {
    state.pages = { cursors: [null], number: 0 };
    plan(0);
    return;
  }
  Object.assign(state, { refusal: error, list: null, job: null, fresh: true, trouble: null });
}

function plan(delay) {
  clearTimeout(timer);
  timer = setTimeout(() => document.visibilityState === "visible" && refresh(), delay);
}

// No route tells who a key is. Only admins are shown a job's errors, so any job tells whether this one is.
async function learnRole(signal) {
  const none = state.queues?.every((queue) => STATUSES.every((status) => countOf(queue, status) === 0));
  if (none) return;
  try {
    const jobs = state.list?.jobs ?? (await call("GET", "/jobs?limit=1", { signal })).told.jobs;
    if (jobs.length === 0) return;
    state.admin = "errors" in (await getJob(jobs[0].id, signal));
    render();
  } catch (error) {
    // what the API says is said by the next refresh, which asks again
    if (!signal.aborted && !(error instanceof Refusal || error instanceof Unreachable)) throw error;
  }
}

// ---------------------------------------------------------------- counts and rates

function waitingOf(queue) {
  return Object.values(queue.counts.pending).reduce((sum, count) => sum + count, 0);
}

function countOf(queue, status) {
  return status === "pending" ? waitingOf(queue) : queue.counts[status];
}

function totalOf(queues, status) {
  return queues.reduce((sum, queue) => sum + countOf(queue, status), 0);
}

function sampled(queues) {
  const counts = new Map(
    queues.map((queue) => [
      queue.name,
      Object.fromEntries(STATUSES.map((one) => [one, countOf(queue, one)])),
    ]),
  );
  const at = performance.now();
  // two samples close together would make a rate of chance
  if (state.samples.length && at - state.samples.at(-1).at < EVERY / 2) return { queues };
  state.samples.push({ at, counts, oldest: Math.max(0, oldestOf(queues)) });
  if (state.samples.length > KEPT_SAMPLES) state.samples.shift();
  return { queues };
}

const added = (counts) => STATUSES.reduce((sum, status) => sum + counts[status], 0);

// Jobs a minute over the last minute of samples; null while there is no time between them.
function rateOf(name, measure) {
  const last = state.samples.at(-1);
  const first = state.samples.find((sample) => last.at - sample.at <= 60 * SECOND && sample.counts.has(name));
  if (!first || last.at - first.at < 2 * SECOND || !last.counts.has(name)) return null;
  const change = measure(last.counts.get(name)) - measure(first.counts.get(name));
  // finished jobs are deleted some day: that is no negative rate
  return (Math.max(0, change) * 60 * SECOND) / (last.at - first.at);
}

const RATES = { added, completed: (counts) => counts.completed, failed: (counts) => counts.failed };
