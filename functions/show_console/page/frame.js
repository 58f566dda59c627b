// The page around the views, and its start.

const VIEWS = { queues: queuesView, jobs: jobsView, job: jobView };
const TITLES = { queues: () => "Queues", jobs: () => "Jobs", job: () => state.job?.type ?? "Job" };

function render() {
  document.title = state.key === null ? "Sign in · jobqueue" : `${TITLES[state.route.view]()} · jobqueue`;
  show(document.getElementById("console"), state.key === null ? [signInView()] : frameView());
}

function frameView() {
  return [
    h("a", { key: "skip", class: "skip", href: "#main", onclick: skip }, "Skip to the content"),
    headerView(),
    troubleView(),
    h(
      "main",
      { key: `main ${state.route.view}`, id: "main", tabindex: "-1", class: state.trouble ? "stale" : "" },
      VIEWS[state.route.view](),
    ),
    noticeView(),
    dialogView(),
  ].filter((view) => view !== null);
}

// The address after # names the view, so the jump is made by hand.
function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

function logo() {
  return h(
    "svg",
    { class: "logo", viewBox: "0 0 16 16", width: 20, height: 20, "aria-hidden": "true" },
    h("rect", { width: 16, height: 16, rx: 4 }),
    path("M4 5h8M4 8h5.5M4 11h3"),
  );
}

function headerView() {
  const page = (view, href, text) =>
    h("a", { href, "aria-current": state.route.view === view ? "page" : null }, text);
  return h(
    "header",
    { key: "header", class: "top" },
    h("a", { class: "brand", href: "#/queues" }, logo(), h("span", null, "jobqueue")),
    h(
      "nav",
      { class: "pages", "aria-label": "Views" },
      page("queues", "#/queues", "Queues"),
      page("jobs", "#/jobs", "Jobs"),
    ),
    h(
      "form",
      { class: "find", role: "search", onsubmit: find },
      h("input", {
        type: "search",
        name: "id",
        placeholder: "Find a job by its id",
        "aria-label": "Find a job by its id",
        spellcheck: "false",
        autocomplete: "off",
        autocapitalize: "off",
      }),
    ),
    h(
      "div",
      { class: "session" },
      state.admin === false &&
        h("span", { class: "tag", title: "Only an admin's key can retry, pause and resume" }, "Read only"),
      liveButton(),
      button("Sign out", () => signOut(), { class: "plain" }),
    ),
  );
}

function liveButton() {
  const text = state.trouble ? "Offline" : state.live ? "Live" : "Held";
  const title = state.live
    ? "Refreshes every few seconds. Press to hold it still."
    : "Held still. Press to refresh again.";
  return h(
    "button",
    {
      type: "button",
      class: `live ${text.toLowerCase()}`,
      "aria-pressed": String(state.live),
      title,
      onclick: toggleLive,
    },
    h("i", { "aria-hidden": "true" }),
    h("span", { class: "unseen" }, "Refreshing: "),
    text,
  );
}

function toggleLive() {
  state.live = !state.live;
  if (state.live) refresh();
  else clearTimeout(timer);
  render();
}

function find(event) {
  event.preventDefault();
  const input = event.target.elements.id;
  const id = input.value.trim();
  if (!id) return;
  input.value = "";
  location.hash = toJob(id);
}

function troubleView() {
  if (!state.trouble) return null;
  const seconds = Math.ceil((state.trouble.retryAt - Date.now()) / SECOND);
  return h(
    "div",
    { key: "trouble", class: "trouble" },
    h(
      "span",
      null,
      h("strong", null, state.trouble.text),
      " ",
      seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again…",
    ),
    button("Try now", refresh, { class: "small" }),
  );
}

// ---------------------------------------------------------------- sign in

function signInView() {
  const { busy, error } = state.signIn;
  return h(
    "main",
    { key: "sign in", class: "door" },
    h(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          if (!busy) signIn(event.target.elements.key.value);
        },
      },
      h("h1", null, logo(), "jobqueue"),
      h(
        "p",
        { class: "quiet" },
        "Sign in with an API key of ",
        h("span", { class: "where" }, BASE.replace(/^https?:\/\//, "")),
        ".",
      ),
      h("label", { for: "key" }, "API key"),
      h("input", {
        id: "key",
        name: "key",
        type: "password",
        placeholder: "jq_…",
        autocomplete: "off",
        spellcheck: "false",
        autocapitalize: "off",
        required: true,
        autofocus: true,
        "aria-invalid": error ? "true" : null,
        "aria-describedby": error ? "wrong kept" : "kept",
      }),
      error && h("p", { id: "wrong", class: "wrong", role: "alert" }, error),
      h(
        "button",
        { type: "submit", class: "button primary", "aria-busy": String(busy) },
        busy ? "Signing in…" : "Sign in",
      ),
      h(
        "p",
        { id: "kept", class: "quiet small" },
        "The key is kept for this tab only, and sent to this API only.",
      ),
    ),
  );
}

// ---------------------------------------------------------------- the start

window.addEventListener("hashchange", () => state.key !== null && go());
window.addEventListener("online", () => state.trouble && refresh());
document.addEventListener(
  "visibilitychange",
  () => document.visibilityState === "visible" && state.live && refresh(),
);
// times tick between two refreshes
setInterval(() => document.visibilityState === "visible" && state.key !== null && render(), SECOND);

state.key = storedKey();
if (state.key === null) {
  render();
  document.getElementById("key").focus();
} else {
  go();
}
