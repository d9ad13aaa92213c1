// Which span of time is shown, and what moves it.

const kSpanMin = 50;  // µs: a hold's least interesting part is some hundred
const total = Math.max(history.length, kSpanMin);
const view = {from: 0, to: total};
let current = -1;  // the finding that was jumped to

function show(from, to) {
  const margin = total * 0.01;
  const span = Math.min(Math.max(to - from, kSpanMin), total + 2 * margin);
  const middle = (from + to) / 2;
  const begin = Math.min(Math.max(middle - span / 2, -margin), total + margin - span);
  view.from = begin;
  view.to = begin + span;
  redraw();
}

const showAll = () => show(-total * 0.01, total * 1.01);

// The instant at `fraction` of the width stays where it is.
function zoom(factor, fraction = 0.5) {
  const span = view.to - view.from;
  const wanted = Math.min(Math.max(span * factor, kSpanMin), total * 1.02);
  const fixed = view.from + span * fraction;
  show(fixed - wanted * fraction, fixed + wanted * (1 - fraction));
}

function move(fraction) {
  const by = (view.to - view.from) * fraction;
  show(view.from + by, view.to + by);
}

// A finding with the holds that it is about, if any, and some room.
function jumpTo(number) {
  if (findings.length === 0) return;
  current = (number + findings.length) % findings.length;
  const finding = findings[current];
  const from = Math.min(finding.from, ...finding.holds.map((i) => holds.from[i]));
  const to = Math.max(finding.to, ...finding.holds.map((i) => holds.to[i]));
  const room = Math.max((to - from) * 0.15, 2000);
  show(from - room, to + room);
  markCurrent();
}

const actions = {
  in: () => zoom(0.5),
  out: () => zoom(2),
  left: () => move(-0.25),
  right: () => move(0.25),
  all: showAll,
  next: () => jumpTo(current + 1),
  previous: () => jumpTo(current < 0 ? -1 : current - 1),
  first: () => show(0, view.to - view.from),
  last: () => show(total - (view.to - view.from), total),
};
const keys = {
  "+": "in", "=": "in", "-": "out", "_": "out", ArrowLeft: "left", ArrowRight: "right",
  "0": "all", n: "next", p: "previous", Home: "first", End: "last",
};

function onKey(event) {
  const action = keys[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  // Of a page that is longer than the window these keys are the page's own.
  const isOfPage = event.key === "Home" || event.key === "End";
  if (isOfPage && event.target !== canvases.lanes) return;
  actions[action]();
  event.preventDefault();
}

// A wheel that is turned sideways, or with shift, moves.
function onWheel(event) {
  const fraction = event.offsetX / canvases.lanes.clientWidth;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    move((event.deltaX || event.deltaY) / canvases.lanes.clientWidth);
  } else {
    zoom(Math.exp(event.deltaY * 0.0022), fraction);
  }
  event.preventDefault();
}

function makeDraggable(canvas, onDrag, onPress = () => {}) {
  let last = null;
  canvas.addEventListener("pointerdown", (event) => {
    last = event.clientX;
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("moving");
    onPress(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (last === null) return;
    onDrag(event.clientX - last, canvas.clientWidth);
    last = event.clientX;
  });
  const end = () => {
    last = null;
    canvas.classList.remove("moving");
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
}

// A press beside the window brings it there; then it follows the pointer.
function onOverviewPress(event) {
  const at = (event.offsetX / canvases.overview.clientWidth) * total;
  if (at >= view.from && at <= view.to) return;
  const half = (view.to - view.from) / 2;
  show(at - half, at + half);
}

// The address tells what is shown: #from=12.3&to=14.5 (seconds), or #finding=1.
function showAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = (name) => (asked.has(name) ? Number(asked.get(name)) : NaN);
  if (number("finding") >= 1) return jumpTo(number("finding") - 1);
  if (number("to") > number("from")) return show(number("from") * 1e6, number("to") * 1e6);
  showAll();
}
