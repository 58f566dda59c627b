// A view says what the page should be; `patch` changes only what differs, so that focus, selection and scroll
// outlive every refresh. Text becomes text nodes and nothing else: there is no way to hand HTML in.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "path", "rect", "circle"]);
const made = new WeakMap(); // the node's view as it was patched last

function h(tag, attributes, ...children) {
  const { key = null, ...rest } = attributes ?? {};
  const wanted = children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false);
  return {
    tag,
    key,
    attributes: rest,
    children: wanted.map((one) => (typeof one === "object" ? one : String(one))),
  };
}

function patch(parent, wanted) {
  const nodes = matched(parent, wanted);
  const kept = new Set(nodes);
  for (const node of [...parent.childNodes]) if (!kept.has(node)) node.remove();
  let place = parent.firstChild;
  wanted.forEach((view, number) => {
    const node = nodes[number] ?? created(view);
    if (node === place) place = place.nextSibling;
    else if (node.isConnected && parent.moveBefore)
      parent.moveBefore(node, place); // which keeps the focus
    else parent.insertBefore(node, place);
    update(node, view);
  });
}

function matched(parent, wanted) {
  const keyed = new Map();
  const loose = [];
  for (const node of parent.childNodes) {
    const key = made.get(node)?.key ?? null;
    if (key === null) loose.push(node);
    else keyed.set(key, node);
  }
  return wanted.map((view) => {
    if (typeof view === "object" && view.key !== null) {
      const node = keyed.get(view.key);
      keyed.delete(view.key);
      return node && isLike(node, view) ? node : undefined;
    }
    const found = loose.findIndex((node) => isLike(node, view));
    return found < 0 ? undefined : loose.splice(found, 1)[0];
  });
}

function isLike(node, view) {
  return typeof view === "string" ? node.nodeType === Node.TEXT_NODE : made.get(node)?.tag === view.tag;
}

function created(view) {
  if (typeof view === "string") return document.createTextNode(view);
  return SVG_TAGS.has(view.tag) ? document.createElementNS(SVG, view.tag) : document.createElement(view.tag);
}

function update(node, view) {
  if (typeof view === "string") {
    if (node.data !== view) node.data = view;
    return;
  }
  const before = made.get(node);
  if (before === view) return; // remembered by whoever made it, so nothing in it has changed
  made.set(node, view);
  const had = before?.attributes ?? {};
  for (const name in had) if (!(name in view.attributes)) set(node, name, null);
  patch(node, view.children);
  // after the children, since a select takes only a value that one of its options has
  for (const name in view.attributes) {
    if (name === "style" || view.attributes[name] !== had[name]) set(node, name, view.attributes[name]);
  }
}

function set(node, name, value) {
  if (name.startsWith("on")) node[name] = value;
  else if (name === "value") node.value = value ?? "";
  else if (name === "style")
    for (const property in value ?? {}) node.style.setProperty(property, value[property]);
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : value);
}

function show(root, views) {
  const focused = document.activeElement;
  const places = placesOf(focused, root);
  patch(root, views);
  if (focused === document.activeElement) return;
  const next = focused?.isConnected ? focused : neighbour(places);
  next?.focus({ preventScroll: true });
}

// Where an element is, from itself outwards: each parent, and which child of it leads there.
function placesOf(element, root) {
  const places = [];
  for (let node = element; node && node !== root && node.parentElement; node = node.parentElement) {
    places.push({ parent: node.parentElement, index: [...node.parentElement.children].indexOf(node) });
  }
  return places;
}

// What had the focus is gone: whatever took its place gets it, or a keyboard starts at the top again.
function neighbour(places) {
  const left = places.find(({ parent }) => parent.isConnected);
  if (!left || left.parent === document.body) return null;
  const child = left.parent.children[Math.min(left.index, left.parent.children.length - 1)];
  const usable = "a[href], button:not(:disabled), input, select";
  return child?.matches(usable) ? child : (child?.querySelector(usable) ?? document.querySelector("h1"));
}

const remembered = new Map();

// What is large is made again only when it changed. One slot holds one view.
function memo(slot, cause, make) {
  const known = remembered.get(slot);
  if (known && known.cause === cause) return known.view;
  const view = make();
  remembered.set(slot, { cause, view });
  return view;
}
