// Puts the page together.

function element(name, text, parent, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  parent.append(made);
  return made;
}

function fillHeader() {
  document.title = (history.title || "Redlock") + " · timeline";
  byId("title").textContent = history.title || "A history of locks";
  byId("about").textContent = [history.scale, ...history.about].join(" · ");
}

const kFindingsShown = 8;

function fillVerdict() {
  const isGood = history.clean && history.differences.length === 0;
  byId("verdict").className = isGood ? "clean" : "found";
  byId("verdict-text").textContent = history.verdict;
  byId("point").textContent = history.point + ".";
  byId("point").hidden = history.point === "";
  for (const text of history.differences) {
    element("li", "Not as it should be: " + text, byId("differences"));
  }
  const list = byId("findings");
  findings.forEach((finding, i) => {
    const item = element("li", "", list);
    item.hidden = i >= kFindingsShown;
    const button = element("button", finding.text, item);
    button.type = "button";
    button.addEventListener("click", () => jumpTo(i));
  });
  const more = byId("all-findings");
  more.hidden = findings.length <= kFindingsShown;
  more.textContent = `show all ${findings.length}`;
  more.addEventListener("click", () => {
    for (const item of list.children) item.hidden = false;
    more.hidden = true;
  });
}

function markCurrent() {
  [...byId("findings").children].forEach((item, i) => {
    if (i === current) item.hidden = false;
    item.firstChild.toggleAttribute("aria-current", i === current);
    if (i === current) item.scrollIntoView({block: "nearest"});
  });
}

function fillFigures() {
  for (const [name, value, note] of history.figures) {
    const tile = element("div", "", byId("figures"));
    element("dt", name, tile);
    element("dd", value, tile, "value");
    if (note) element("dd", note, tile, "note");
  }
}

function fillNames() {
  const names = byId("names");
  const kHeadings = {lock: "LOCKS, BY HOLDER", client: "CLIENTS", node: "NODES"};
  let kind = "";
  for (const lane of lanes) {
    if (lane.kind !== kind) {
      const hidden = history.locks.length - groups.locks.length;
      const more = lane.kind === "lock" && hidden > 0 ? ` (${hidden} MORE)` : "";
      element("div", kHeadings[lane.kind] + more, names, "heading").style.height =
          kHeights.heading + "px";
    }
    kind = lane.kind;
    const row = element("div", "", names, "lane");
    row.style.height = lane.height + kLaneGap + "px";
    row.style.paddingBottom = kLaneGap + "px";
    if (lane.kind === "lock") {
      element("span", "", row, "swatch").style.background =
          `var(--lock-${lane.index % kColours})`;
    }
    element("span", lane.name, row);
    if (lane.kind === "node") element("small", history.nodes[lane.index].address, row);
    row.title = row.textContent;
  }
}

// Each sign of the picture, drawn as the picture draws it.
function signs() {
  const box = (colour, alpha = 1) => (pen) => {
    pen.globalAlpha = alpha;
    pen.fillStyle = colour;
    pen.fillRect(0, 2, 26, 12);
  };
  const line = (colour, y, height) => (pen) => {
    pen.fillStyle = colour;
    pen.fillRect(0, y, 26, height);
  };
  return [
    ["held", box(colours.locks[0])],
    ["rest of its validity", box(colours.locks[0], 0.22)],
    ["lost", (pen) => {
      box(colours.locks[0])(pen);
      drawEnd(pen, kLost, 26, 2, 12);
    }],
    ["ran out, killed", (pen) => {
      box(colours.locks[0])(pen);
      drawEnd(pen, 0, 26, 2, 12);
    }],
    ["refused attempt", (pen) => {
      line(colours.soft, 7.5, 1)(pen);
      pen.fillRect(24, 4, 1, 8);
    }],
    ["write accepted", (pen) => {
      pen.fillStyle = colours.accepted;
      pen.fillRect(12, 4, 1, 9);
    }],
    ["write refused", (pen) => drawCross(pen, 13, 8, 3, colours.refused)],
    ["killed, down", (pen) => {
      box(patterns.killed)(pen);
      drawCross(pen, 5, 8, 4, colours.ink);
    }],
    ["stopped", box(patterns.stopped)],
    ["recovering", box(patterns.recovering)],
    ["cut off", line(colours.cut, 8, 4)],
    ["cut off from some nodes", (pen) => {
      pen.globalAlpha = kFewCut.alpha;
      line(colours.cut, 9, kFewCut.height)(pen);
    }],
    ["slowed", line(colours.slowed, 8, 3)],
    ["clock jump", (pen) => drawTriangle(pen, 10, 8, 7, colours.jumped)],
    ["finding", box(colours.finding)],
  ];
}

function fillLegend() {
  const legend = byId("legend");
  legend.replaceChildren();
  for (const [text, paint] of signs()) {
    const item = element("li", "", legend);
    const canvas = element("canvas", "", item);
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [26 * ratio, 16 * ratio];
    [canvas.style.width, canvas.style.height] = ["26px", "16px"];
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    paint(pen);
    element("span", text, item);
  }
}

function listen() {
  const {lanes: picture, overview} = canvases;
  picture.addEventListener("wheel", onWheel, {passive: false});
  picture.addEventListener("mousemove", onHover);
  picture.addEventListener("mouseleave", () => { byId("tip").hidden = true; });
  makeDraggable(picture, (by, width) => move(-by / width));
  makeDraggable(overview, (by, width) => {
    const time = (by / width) * total;
    show(view.from + time, view.to + time);
  }, onOverviewPress);
  document.addEventListener("keydown", onKey);
  for (const button of byId("tools").querySelectorAll("button")) {
    button.addEventListener("click", actions[button.dataset.do]);
  }
  addEventListener("hashchange", showAddress);
  new ResizeObserver(restart).observe(picture);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restart);
}

// After a change of size or colours.
function restart() {
  readColours();
  fillLegend();
  paintOverview();
  redraw();
}

fillHeader();
fillVerdict();
fillFigures();
fillNames();
canvases.lanes.style.height = contentHeight + "px";
restart();
listen();
showAddress();
draw();
document.documentElement.dataset.state = "drawn";
