// The axis of time, the overview of all of it, and when a picture is drawn.

function gridStep() {
  const wanted = (view.to - view.from) / Math.max(canvases.lanes.clientWidth / 110, 2);
  const power = Math.pow(10, Math.floor(Math.log10(wanted)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted);
  if (step < 1e7) return Math.max(step, 1);
  return [1e7, 15e6, 3e7, 6e7, 12e7, 3e8, 6e8, 18e8, 36e8].find((n) => n >= wanted) || step;
}

function gridTimes() {
  const step = gridStep();
  const times = [];
  const begin = Math.ceil(Math.max(view.from, 0) / step) * step;
  for (let time = begin; time <= view.to; time += step) {
    times.push(time);
  }
  return times;
}

const axisDigits = () => Math.max(0, Math.min(6, 6 - Math.floor(Math.log10(gridStep()))));

function drawAxis() {
  const {pen, width} = prepare("axis", 26);
  const x = (time) => ((time - view.from) * width) / (view.to - view.from);
  const digits = axisDigits();
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const time of gridTimes()) {
    pen.fillStyle = colours.line;
    pen.fillRect(Math.round(x(time)), 18, 1, 8);
    pen.fillStyle = colours.soft;
    const text = timeText(time, digits);
    const fits = x(time) + 3 + pen.measureText(text).width <= width;
    pen.textAlign = fits ? "left" : "right";
    pen.fillText(text, Math.round(x(time)) + (fits ? 3 : -3), 15);
  }
  for (const finding of findings) {
    if (finding.to < view.from || finding.from > view.to) continue;
    const middle = x((Math.max(finding.from, view.from) + Math.min(finding.to, view.to)) / 2);
    pen.fillStyle = colours.finding;
    pen.beginPath();
    pen.moveTo(middle - 5, 19);
    pen.lineTo(middle + 5, 19);
    pen.lineTo(middle, 26);
    pen.fill();
  }
}

// Above how many locks were held, below what was done to nodes and clients; red: findings.
const kOverviewHeight = 58;  // as the style has it
let overviewPicture = null;

function paintOverview() {
  const {pen, width} = prepare("overview", kOverviewHeight);
  const columns = Math.ceil(width);
  const scale = width / total;
  const held = new Float32Array(columns + 1);
  holds.from.forEach((from, i) => {
    const right = Math.min(holds.to[i] * scale, columns);
    for (let c = Math.floor(from * scale); c < right; ++c) {
      held[c] += Math.min(right, c + 1) - Math.max(from * scale, c);
    }
  });
  pen.fillStyle = colours.lane;
  pen.fillRect(0, 0, width, kOverviewHeight);
  pen.fillStyle = colours.locks[0];
  pen.globalAlpha = 0.55;
  const most = Math.max(history.locks.length, 1);
  held.forEach((sum, c) => {
    const height = Math.min(sum / most, 1) * 26;
    pen.fillRect(c, 28 - height, 1, height);
  });
  for (const spell of spells.filter((one) => !one.is_of_nodes)) {
    const isNode = spell.party >= history.clients.length;
    pen.fillStyle = colours[spell.what === "killed" ? "down" : spell.what];
    pen.globalAlpha = 0.6;
    pen.fillRect(spell.from * scale, isNode ? 46 : 32, Math.max((spell.to - spell.from) * scale, 1),
                 8);
  }
  pen.fillStyle = colours.jumped;
  for (const jump of jumps) {
    pen.fillRect(jump.at * scale, jump.party >= history.clients.length ? 46 : 32, 2, 8);
  }
  pen.globalAlpha = 1;
  pen.fillStyle = colours.finding;
  for (const finding of findings) {
    pen.fillRect(finding.from * scale, 0, Math.max((finding.to - finding.from) * scale, 2), kOverviewHeight);
  }
  overviewPicture = document.createElement("canvas");
  overviewPicture.width = canvases.overview.width;
  overviewPicture.height = canvases.overview.height;
  overviewPicture.getContext("2d").drawImage(canvases.overview, 0, 0);
}

function drawOverview() {
  const {pen, width} = prepare("overview", kOverviewHeight);
  pen.drawImage(overviewPicture, 0, 0, width, kOverviewHeight);
  const left = Math.max((view.from / total) * width, 0);
  const right = Math.min((view.to / total) * width, width);
  pen.fillStyle = colours.paper;
  pen.globalAlpha = 0.62;
  pen.fillRect(0, 0, left, kOverviewHeight);
  pen.fillRect(right, 0, width - right, kOverviewHeight);
  pen.globalAlpha = 1;
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 1;
  pen.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, 2), kOverviewHeight - 1);
}

// A digit more than the axis has.
const rangeText = (time) => timeText(time, Math.min(axisDigits() + 1, 6));

let isAsked = false;

function redraw() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(draw);
}

function draw() {
  isAsked = false;
  drawLanes();
  drawAxis();
  drawOverview();
  byId("range").textContent =
      `${rangeText(Math.max(view.from, 0))} to ${rangeText(Math.min(view.to, total))}`;
  Object.assign(document.documentElement.dataset, {lanes: lanes.length, holds: drawn.holds});
}
