// How numbers, times and lengths of time are written. The API's UTC is shown in the reader's own zone.

const SECOND = 1000;
const NUMBERS = new Intl.NumberFormat("en-US");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

function number(value) {
  return value === null || value === undefined ? "–" : NUMBERS.format(value);
}

function compact(value) {
  return Math.abs(value) < 100_000 ? NUMBERS.format(value) : COMPACT.format(value);
}

function many(value, one, more = `${one}s`) {
  return `${number(value)} ${value === 1 ? one : more}`;
}

// 0s, 59s, 4m 12s, 2h 5m, 3d 4h
function span(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / SECOND));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 99) return `${number(days)}d`;
  if (days) return hours % 24 ? `${days}d ${hours % 24}h` : `${days}d`;
  if (hours) return minutes % 60 ? `${hours}h ${minutes % 60}m` : `${hours}h`;
  if (minutes) return minutes < 10 && seconds % 60 ? `${minutes}m ${seconds % 60}s` : `${minutes}m`;
  return `${seconds}s`;
}

// 120 ms, 1.24 s, then as `span`
function took(milliseconds) {
  if (milliseconds < SECOND) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60 * SECOND) return `${(milliseconds / SECOND).toFixed(2)} s`;
  return span(milliseconds);
}

function perMinute(rate) {
  if (rate === null) return "–";
  if (rate > 0 && rate < 10) return rate.toFixed(1);
  return compact(Math.round(rate));
}

function at(timestamp) {
  return Date.parse(timestamp);
}

const two = (value) => String(value).padStart(2, "0");

function day(moment) {
  const date = new Date(moment);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function clock(moment) {
  const date = new Date(moment);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function clockAndDay(moment) {
  return day(moment) === day(now()) ? clock(moment) : `${day(moment)} ${clock(moment)}`;
}

const STATUSES = ["pending", "running", "failed", "completed", "cancelled"];
const PRIORITIES = ["critical", "high", "medium", "low"];

function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function timesOf(job) {
  const known = (timestamp) => (timestamp ? at(timestamp) : null);
  return {
    available: known(job.available_at),
    claimed: known(job.claimed_at),
    finished: known(job.finished_at),
  };
}

// What an operator asks of a job's time, by its status.
function whenOf(job) {
  const { available, claimed, finished } = timesOf(job);
  if (job.status === "pending" && available > now()) return `in ${span(available - now())}`;
  if (job.status === "pending") return `waits ${span(now() - available)}`;
  if (job.status === "running") return `for ${span(now() - (claimed ?? now()))}`;
  return finished === null ? "–" : `${span(now() - finished)} ago`;
}

function ranOf(job) {
  const { claimed, finished } = timesOf(job);
  return claimed !== null && finished !== null && finished >= claimed ? took(finished - claimed) : "–";
}
