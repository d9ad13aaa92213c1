// Drawing. Only what is visible is looked at; where things would be narrower than they can be seen,
// a column of pixels shows which share of its time each lock was held.

const kHeights = {lock: 24, node: 26, heading: 24};
const kRow = 22;
const kLaneGap = 4;
const canvases = {lanes: byId("lanes"), axis: byId("axis"), overview: byId("overview")};
let colours = {};
let patterns = {};
let drawn = {holds: 0};  // what the last picture showed, for the page's test

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue("--" + name).trim();
  const names = ["paper", "ink", "soft", "line", "lane", "finding", "down", "stopped", "recovering",
    "cut", "slowed", "jumped", "refused", "accepted"];
  colours = Object.fromEntries(names.map((name) => [name, read(name)]));
  colours.locks = Array.from({length: kColours}, (_, i) => read("lock-" + i));
  patterns = {
    killed: makePattern(colours.down, 0.85, 0.5),
    stopped: makePattern(colours.stopped, 0.6, 0.16),
    recovering: makePattern(colours.recovering, 0.8, 0.2),
  };
}

const lockColour = (lock) => colours.locks[lock % kColours];

// Diagonal stripes over a tint.
function makePattern(colour, stripes, tint) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d");
  pen.fillStyle = pen.strokeStyle = colour;
  pen.globalAlpha = tint;
  pen.fillRect(0, 0, 8, 8);
  pen.globalAlpha = stripes;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const shift of [-8, 0, 8]) {
    pen.moveTo(shift - 1, 9);
    pen.lineTo(shift + 9, -1);
  }
  pen.stroke();
  return pen.createPattern(tile, "repeat");
}

function prepare(name, height) {
  const canvas = canvases[name];
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return {pen, width, height};
}

// --- the lanes ---

function layOut() {
  let y = 0;
  for (const group of [groups.locks, groups.nodes, groups.clients]) {
    if (group.length) y += kHeights.heading;
    for (const lane of group) {
      lane.y = y;
      lane.height = kHeights[lane.kind] || lane.rows * kRow + 10;
      y += lane.height + kLaneGap;
    }
  }
  return y;
}

const contentHeight = layOut();

function drawLanes() {
  canvases.lanes.style.height = contentHeight + "px";
  const {pen, width} = prepare("lanes", contentHeight);
  const scale = width / (view.to - view.from);
  const x = (time) => (time - view.from) * scale;
  const frame = {pen, width, scale, x};
  drawn = {holds: 0};
  drawGrid(frame);
  chooseDensity(frame);
  for (const lane of lanes) {
    pen.fillStyle = colours.lane;
    pen.fillRect(0, lane.y, width, lane.height);
    if (lane.kind === "node") drawServing(frame, lane);
    drawSpells(frame, lane);
    drawHolds(frame, lane);
    drawAttempts(frame, lane);
    drawWrites(frame, lane);
    drawNetwork(frame, lane);
    drawMarks(frame, lane);
  }
  drawFindings(frame);
}

function drawGrid({pen, x}) {
  pen.fillStyle = colours.line;
  for (const time of gridTimes()) pen.fillRect(Math.round(x(time)), 0, 1, contentHeight);
}

function drawServing({pen, width}, lane) {
  pen.fillStyle = colours.line;
  pen.fillRect(0, lane.y + lane.height / 2 - 1, width, 2);
}

function visibleSpells(lane) {
  return lane.spells.filter((spell) => spell.to >= view.from && spell.from <= view.to);
}

function drawSpells({pen, x}, lane) {
  for (const spell of visibleSpells(lane)) {
    if (!patterns[spell.what]) continue;
    const left = x(spell.from);
    const room = lane.kind === "node" ? 3 : 0;
    pen.fillStyle = patterns[spell.what];
    pen.fillRect(left, lane.y + room, Math.max(x(spell.to) - left, 1), lane.height - 2 * room);
  }
}

// A client that is cut off from nodes without which it still has a quorum.
const kFewCut = {height: 2, alpha: 0.6};

// Cut off or slowed is a matter of the network: a line below, whatever the party does above it.
function drawNetwork({pen, x}, lane) {
  for (const spell of visibleSpells(lane)) {
    if (spell.what !== "cut" && spell.what !== "slowed") continue;
    const isCut = spell.what === "cut";
    const left = x(spell.from);
    pen.fillStyle = colours[spell.what];
    pen.globalAlpha = spell.has_quorum ? kFewCut.alpha : 1;
    const height = spell.has_quorum ? kFewCut.height : isCut ? 4 : 3;
    const y = lane.y + lane.height - (isCut ? height : 7);
    pen.fillRect(left, y, Math.max(x(spell.to) - left, 1.5), height);
  }
  pen.globalAlpha = 1;
}

function visibleHolds(lane) {
  return [countBelow(lane.reach, view.from), countBelow(lane.from, view.to)];
}

// Lanes of one kind are drawn alike.
function chooseDensity({width}) {
  for (const group of [groups.locks, groups.clients]) {
    const count = group.reduce((sum, lane) => {
      const [first, last] = visibleHolds(lane);
      return sum + Math.max(last - first, 0);
    }, 0);
    for (const lane of group) lane.isDense = count > (group.length * width) / 6;
  }
}

function drawHolds(frame, lane) {
  const [first, last] = visibleHolds(lane);
  if (last <= first) return;
  drawn.holds += last - first;
  if (lane.isDense) return drawDensity(frame, lane, first, last);
  for (let k = first; k < last; ++k) drawHold(frame, lane, lane.numbers[k]);
}

// The box of a hold within its lane.
function boxOf(lane, i) {
  const top = lane.kind === "lock" ? lane.y + 3 : lane.y + 5 + holds.row[i] * kRow;
  return {top, height: lane.kind === "lock" ? lane.height - 6 : kRow - 4};
}

function drawHold({pen, width, x}, lane, i) {
  const {top, height} = boxOf(lane, i);
  const [left, right, end] = [x(holds.from[i]), x(holds.to[i]), x(holds.valid[i])];
  pen.fillStyle = lockColour(holds.lock[i]);
  pen.globalAlpha = 0.22;
  if (holds.end[i] !== kReleased && end > right) {
    pen.fillRect(right, top + 2, end - right, height - 4);
  }
  pen.globalAlpha = 1;
  pen.fillRect(left, top, Math.max(right - left, 1), height);
  for (const gap of holds.gaps[i] || []) {
    pen.clearRect(x(gap[0]), top, Math.max(x(gap[1]) - x(gap[0]), 1), height);
  }
  if (right - left > 6) drawEnd(pen, holds.end[i], right, top, height);
  const shown = Math.min(right, width) - Math.max(left, 0);
  if (shown > 34) {
    drawLabel(pen, labelOf(lane, i), Math.max(left, 0) + 5, top + height / 2, shown - 9);
  }
}

function labelOf(lane, i) {
  const name = lane.kind === "lock" ? history.clients[holds.client[i]]
                                    : history.locks[holds.lock[i]];
  return holds.token[i] ? `${name} · ${holds.token[i]}` : name;
}

function drawLabel(pen, text, left, middle, room) {
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.fillStyle = colours.paper;
  const fit = Math.floor((text.length * room) / pen.measureText(text).width);
  if (fit >= text.length) pen.fillText(text, left, middle + 0.5);
  else if (fit >= 4) pen.fillText(text.slice(0, fit - 1) + "…", left, middle + 0.5);
}

// Lost: a notch. Run out: a ragged edge, as nobody let go of it.
function drawEnd(pen, end, right, top, height) {
  if (end === kReleased) return;
  pen.fillStyle = end === kLost ? colours.refused : colours.down;
  pen.beginPath();
  pen.moveTo(right, top);
  pen.lineTo(right - 5, top + height / 2);
  pen.lineTo(right, top + height);
  pen.fill();
}

function drawDensity({pen, width, scale}, lane, first, last) {
  const columns = Math.ceil(width);
  const cover = Array.from({length: kColours}, () => new Float32Array(columns));
  for (let k = first; k < last; ++k) {
    const i = lane.numbers[k];
    const left = Math.max((holds.from[i] - view.from) * scale, 0);
    const right = Math.min((holds.to[i] - view.from) * scale, columns);
    const share = cover[holds.lock[i] % kColours];
    for (let c = Math.floor(left); c < right; ++c) {
      share[c] += Math.min(right, c + 1) - Math.max(left, c);
    }
  }
  const height = lane.height - 6;
  for (let c = 0; c < columns; ++c) {
    let y = lane.y + 3 + height;
    for (let colour = 0; colour < kColours; ++colour) {
      const part = Math.min(cover[colour][c], 1) * height;
      if (part < 0.2) continue;
      pen.fillStyle = colours.locks[colour];
      pen.fillRect(c, Math.max(y - part, lane.y + 3), 1, Math.min(part, y - lane.y - 3));
      y -= part;
    }
  }
}

// A thin line while a client asks; a stroke where it is refused.
function drawAttempts({pen, x}, lane) {
  let beyond = -1;
  for (const i of lane.attempts) {
    if (attempts.to[i] < view.from || attempts.from[i] > view.to) continue;
    const right = x(attempts.to[i]);
    if (right < beyond) continue;
    const left = x(attempts.from[i]);
    if (lane.isDense && right - left < 4) continue;
    const middle = lane.y + lane.height / 2;
    pen.fillStyle = attempts.why[i] === kGranted ? lockColour(attempts.lock[i]) : colours.soft;
    pen.globalAlpha = 0.6;
    pen.fillRect(left, middle - 0.5, Math.max(right - left, 0.5), 1);
    if (attempts.why[i] >= 0) pen.fillRect(right - 0.5, middle - 4, 1, 8);
    beyond = right + 1;
  }
  pen.globalAlpha = 1;
}

function drawWrites({pen, x}, lane) {
  let beyond = -1;
  for (let k = countBelow(lane.writeTimes, view.from); k < lane.writes.length; ++k) {
    const i = lane.writes[k];
    if (writes.at[i] > view.to) break;
    const left = x(writes.at[i]);
    const isRefused = (writes.how[i] & 1) === 0;
    if (!isRefused && (lane.isDense || left < beyond)) continue;
    const {top, height} = boxOf(lane, writes.hold[i]);
    if (isRefused) {
      drawCross(pen, left, top + height - 3, 3, colours.refused);
    } else {
      pen.fillStyle = (writes.how[i] & 2) ? colours.refused : colours.accepted;
      pen.fillRect(left - 0.5, top + height - 5, 1, 7);
      beyond = left + 2;
    }
  }
}

function drawCross(pen, x, y, size, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x - size, y + size);
  pen.lineTo(x + size, y - size);
  pen.stroke();
}

// A kill is a cross, a stop two bars, a jump of the clock a triangle in its direction.
function drawMarks({pen, x}, lane) {
  const middle = lane.y + lane.height / 2;
  for (const spell of visibleSpells(lane)) {
    const left = x(spell.from);
    if (spell.what === "killed") drawCross(pen, left, middle, 4, colours.ink);
    const right = x(spell.to);
    if (spell.what !== "stopped" || right - left < 18) continue;
    pen.fillStyle = colours.ink;
    pen.fillRect(right - 14, middle - 5, 3, 10);
    pen.fillRect(right - 9, middle - 5, 3, 10);
  }
  for (const jump of lane.jumps) {
    if (jump.at < view.from || jump.at > view.to) continue;
    drawTriangle(pen, x(jump.at), middle, jump.by < 0 ? -7 : 7, colours.jumped);
  }
}

function drawTriangle(pen, x, y, size, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(x, y - 6);
  pen.lineTo(x + size, y);
  pen.lineTo(x, y + 6);
  pen.fill();
}

// --- findings ---

function drawFindings({pen, x}) {
  findings.forEach((finding, number) => {
    if (finding.to < view.from || finding.from > view.to) return;
    const left = x(finding.from);
    const size = Math.max(x(finding.to) - left, 3);
    const isWide = finding.kind === "overlap";
    const touched = lanes.filter((lane) =>
      (lane.kind === "lock" && lane.index === finding.lock) ||
      (lane.kind === "client" && finding.clients.includes(lane.index)));
    if (!touched.length) return;
    const top = touched[0].y;
    const bottom = touched[touched.length - 1].y + touched[touched.length - 1].height;
    pen.fillStyle = colours.finding;
    pen.globalAlpha = number === current ? 0.22 : 0.12;
    pen.fillRect(left, top, size, bottom - top);
    pen.globalAlpha = isWide ? 0.85 : 1;
    for (const lane of touched) {
      pen.fillRect(left, lane.y + (isWide ? 3 : 0), isWide ? size : 2,
                   lane.height - (isWide ? 6 : 0));
    }
    pen.globalAlpha = 1;
    if (isWide && size > 40) {
      const left0 = Math.max(left, 0);
      for (const lane of touched) labelOverlap(pen, lane, finding, left0, left + size - left0);
    }
  });
}

function labelOverlap(pen, lane, finding, left, room) {
  const names = finding.holds.map((i) => history.clients[holds.client[i]]);
  const text = lane.kind === "lock" ? names.join(" and ") : history.locks[finding.lock];
  drawLabel(pen, text, left + 5, lane.y + lane.height / 2, room - 9);
}
