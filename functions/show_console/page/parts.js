// What several views are made of.

function icon(name, ...shapes) {
  const attributes = {
    class: `icon ${name}`,
    viewBox: "0 0 16 16",
    width: 16,
    height: 16,
    "aria-hidden": "true",
  };
  return h("svg", attributes, shapes);
}

const path = (d, more) => h("path", { d, ...more });
const ring = (more) => h("circle", { cx: 8, cy: 8, r: 6, class: "ring", ...more });
const disc = () => h("circle", { cx: 8, cy: 8, r: 7, class: "disc" });

const STATUS_SHAPES = {
  pending: () => [ring()],
  running: () => [ring({ class: "ring faint" }), path("M8 2a6 6 0 0 1 6 6", { class: "ring" })],
  completed: () => [disc(), path("M4.8 8.3l2.2 2.2 4.2-4.6", { class: "mark" })],
  failed: () => [disc(), path("M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8", { class: "mark" })],
  cancelled: () => [ring(), path("M4 12L12 4", { class: "ring" })],
};

function statusIcon(status) {
  return icon(`status ${status}`, STATUS_SHAPES[status]());
}

function statusOf(job) {
  const text = job.cancel_requested && job.status === "running" ? "Cancelling" : capital(job.status);
  return h("span", { class: `state ${job.status}` }, statusIcon(job.status), text);
}

// Bars of a signal: they tell the level without a colour.
function priorityOf(priority) {
  const level = PRIORITIES.length - PRIORITIES.indexOf(priority);
  const bars = [0, 1, 2, 3].map((number) =>
    h("rect", {
      x: 1.5 + number * 3.5,
      y: 10 - number * 2.6,
      width: 2.4,
      height: 4 + number * 2.6,
      rx: 0.8,
      class: number < level ? "on" : "off",
    }),
  );
  return h("span", { class: `priority ${priority}` }, icon("bars", bars), capital(priority));
}

// A job's own text: it may be anything, in any direction, and must not reorder what is around it.
function foreign(text, attributes = {}) {
  return h("bdi", attributes, text);
}

function jobId(id) {
  return h("span", { class: "id" }, id);
}

function moment(timestamp, text, attributes = {}) {
  const title = `${day(at(timestamp))} ${clock(at(timestamp))} here, ${timestamp}`;
  return h("time", { datetime: timestamp, title, ...attributes }, text);
}

function button(text, onclick, attributes = {}) {
  return h(
    "button",
    { type: "button", onclick, ...attributes, class: `button ${attributes.class ?? ""}` },
    text,
  );
}

function empty(title, ...lines) {
  return h(
    "div",
    { class: "empty" },
    h("p", { class: "title" }, title),
    lines.map((line) => h("p", null, line)),
  );
}

function skeleton(rows) {
  const bars = Array.from({ length: rows }, () => h("span", { class: "bone" }));
  return h("div", { class: "skeleton", role: "status" }, h("span", { class: "unseen" }, "Loading"), bars);
}

function refused(error) {
  const fields = error.fields.map((one) =>
    h("li", null, h("code", null, one.field), " ", foreign(one.message)),
  );
  return h(
    "div",
    { class: "empty refused", role: "alert" },
    h("p", { class: "title" }, "The API refused this"),
    fields.length ? h("ul", null, fields) : h("p", null, foreign(error.message)),
    error.requestId && h("p", { class: "quiet" }, "Request ", h("code", null, error.requestId)),
  );
}

// ---------------------------------------------------------------- charts

// A line of the last samples. They come at their own times: x is time, not number.
function spark(points, name) {
  const width = 120;
  const height = 28;
  const top = Math.max(...points.map(([, value]) => value));
  if (points.length < 2 || top <= 0) return null;
  const [first, last] = [points[0][0], points.at(-1)[0]];
  const x = (time) => (((time - first) / (last - first || 1)) * width).toFixed(1);
  const y = (value) => (height - 2 - (value / top) * (height - 8)).toFixed(1);
  const line = points.map(([time, value]) => `${x(time)} ${y(value)}`).join("L");
  const box = { class: `spark ${name}`, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" };
  return h(
    "svg",
    { ...box, "aria-hidden": "true" },
    path(`M${line}L${width} ${height}L0 ${height}Z`, { class: "area" }),
    path(`M${line}`, { class: "line", "vector-effect": "non-scaling-stroke" }),
  );
}

// Waiting jobs by priority, as wide as the longest queue's are many.
function depthBar(queue, most) {
  const { pending } = queue.counts;
  const parts = PRIORITIES.filter((priority) => pending[priority] > 0).map((priority) =>
    h("span", {
      key: priority,
      class: `part ${priority}`,
      style: { "flex-grow": String(pending[priority]) },
    }),
  );
  const all = waitingOf(queue);
  const width = most > 0 ? Math.max(all > 0 ? 1 : 0, (all / most) * 100) : 0;
  return h(
    "span",
    { class: "depth", "aria-hidden": "true" },
    h("span", { class: "fill", style: { width: `${width}%` } }, parts),
  );
}

// ---------------------------------------------------------------- JSON

const MOST_LINES = 1500;
// Invisible characters that reorder text would show another payload than there is.
const HIDDEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function quoted(text) {
  return JSON.stringify(text).replace(
    HIDDEN,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function* jsonPieces(value, indent = "") {
  const deeper = `${indent}  `;
  if (value instanceof Exactly) yield ["number", value.source];
  else if (typeof value === "string") yield ["string", quoted(value)];
  else if (typeof value === "number") yield ["number", String(value)];
  else if (value === null || typeof value === "boolean") yield ["word", String(value)];
  else {
    const isList = Array.isArray(value);
    const entries = isList ? value.map((one) => [null, one]) : Object.entries(value);
    const [open, close] = isList ? "[]" : "{}";
    if (entries.length === 0) {
      yield ["mark", open + close];
      return;
    }
    yield ["mark", open];
    for (const [number, [name, one]] of entries.entries()) {
      yield ["mark", `${number ? "," : ""}\n${deeper}`];
      if (!isList) {
        yield ["name", quoted(name)];
        yield ["mark", ": "];
      }
      yield* jsonPieces(one, deeper);
    }
    yield ["mark", `\n${indent}${close}`];
  }
}

function jsonText(value) {
  return [...jsonPieces(value)].map(([, text]) => text).join("");
}

function jsonView(slot, value) {
  const text = jsonText(value);
  return memo(slot, text, () => {
    let lines = 0;
    const shown = [];
    for (const [kind, piece] of jsonPieces(value)) {
      if (piece.includes("\n")) lines += 1;
      if (lines > MOST_LINES) break;
      shown.push(kind === "mark" ? piece : h("span", { class: kind }, piece));
    }
    const rest = text.split("\n").length - MOST_LINES;
    const more =
      rest > 0 ? h("span", { class: "quiet" }, `\n… ${many(rest, "more line")}; copy shows all`) : null;
    return h(
      "pre",
      { class: "json", tabindex: "0", "aria-label": capital(slot) },
      h("code", null, shown, more),
    );
  });
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notify(`${what} copied.`);
  } catch {
    notify(`The browser does not let this page copy. Select the text instead.`, "bad");
  }
}
