// The API that serves this page: its base is the page's own address without /console, under any stage.

const BASE = location.origin + location.pathname.replace(/\/console\/?$/, "");
const PATIENCE = 25 * SECOND;

// The API answered, and refused.
class Refusal extends Error {
  constructor(status, told, retryAfter) {
    super(told.detail ?? told.title ?? told.message ?? `The API answered ${status}.`);
    this.status = status;
    // only jobqueue itself answers problem details; the gateway in front of it says {"message"}
    this.slug = String(told.type ?? "").startsWith("urn:jobqueue:problem:")
      ? told.type.split(":").pop()
      : null;
    this.fields = Array.isArray(told.errors) ? told.errors : [];
    this.requestId = told.request_id ?? null;
    this.retryAfter = retryAfter;
  }

  get isOfTheKey() {
    return (
      this.status === 401 || (this.status === 403 && (this.slug === null || this.slug === "unauthenticated"))
    );
  }

  get isOfTheRole() {
    return this.status === 403 && this.slug === "role-not-allowed";
  }

  get willPass() {
    return this.status === 429 || this.status >= 500;
  }
}

// No answer came, or none of this API.
class Unreachable extends Error {
  get willPass() {
    return true;
  }
}

let skew = 0; // of this machine's clock, in milliseconds

function now() {
  return Date.now() + skew;
}

function compareClocks(date) {
  const theirs = Date.parse(date ?? "");
  const found = theirs - Date.now();
  // the header has whole seconds, and the answer was on its way: what differs by less is no news
  if (!(Math.abs(found - skew) > 2 * SECOND)) return;
  skew = Math.abs(found) > 2 * SECOND ? found : 0;
}

async function call(method, path, { body, signal, key = state.key } = {}) {
  const late = AbortSignal.timeout(PATIENCE);
  const headers = { Accept: "application/json", Authorization: `Bearer ${key}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  let text;
  try {
    answer = await fetch(BASE + path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, late]) : late,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
    text = await answer.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable(late.aborted ? "The API does not answer in time." : "The API cannot be reached.");
  }
  compareClocks(answer.headers.get("date"));
  const told = parsed(text);
  if (answer.ok && told !== null && typeof told === "object") return { told, text };
  if (answer.ok) throw new Unreachable("What answered is not the API.");
  const wait = Number(answer.headers.get("retry-after"));
  const plain = told !== null && typeof told === "object" ? told : {};
  throw new Refusal(answer.status, plain, wait > 0 ? wait * SECOND : null);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// A number that JavaScript would round, as it was written.
class Exactly {
  constructor(source) {
    this.source = source;
  }
}

function parsedExactly(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && context?.source && String(value) !== context.source
      ? new Exactly(context.source)
      : value,
  );
}

const QUEUES = "/queues";

async function getQueues(options) {
  return (await call("GET", QUEUES, options)).told.queues;
}

async function getJob(id, signal) {
  const { told, text } = await call("GET", `/jobs/${encodeURIComponent(id)}`, { signal });
  const exact = parsedExactly(text);
  for (const member of ["payload", "result", "progress"]) if (member in told) told[member] = exact[member];
  return told;
}

const PAGE = 50;
const MOST_LOOKS = 3;

// A page of a rare type can come back short, or empty, with more behind it: look on, but not for ever.
async function listJobs(filter, cursor, signal) {
  const found = new Map(); // a job that moves while it is listed can come twice
  let next = cursor;
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
    query.set("limit", String(PAGE - found.size));
    if (next) query.set("cursor", next);
    const { told } = await call("GET", `/jobs?${query}`, { signal });
    for (const job of told.jobs) found.set(job.id, job);
    next = told.next_cursor;
    if (!next || found.size >= PAGE) break;
  }
  return { jobs: [...found.values()], next };
}

const post = (path, body) => call("POST", path, { body }).then(({ told }) => told);
const retryJob = (id) => post(`/jobs/${encodeURIComponent(id)}/retry`);
const cancelJob = (id) => post(`/jobs/${encodeURIComponent(id)}/cancel`);
const pauseQueue = (name) => post(`${QUEUES}/${encodeURIComponent(name)}/pause`);
const resumeQueue = (name) => post(`${QUEUES}/${encodeURIComponent(name)}/resume`);

function retryStep(queue, type, before, limit) {
  const which = { status: "failed", ...(type ? { type } : {}), finished_before: before, limit };
  return post(`${QUEUES}/${encodeURIComponent(queue)}/retry`, which);
}
