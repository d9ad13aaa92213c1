// What lies under the pointer, in words.

const kNear = 5;  // pixels

function holdLines(i) {
  const lines = [
    `held “${history.locks[holds.lock[i]]}” for ${lengthText(holds.to[i] - holds.from[i])}`,
    `acquired at ${timeText(holds.from[i])}, after ${lengthText(holds.from[i] - holds.asked[i])}` +
        (holds.token[i] ? `, token ${holds.token[i]}` : ", no token"),
    `until ${timeText(holds.to[i])}: ${kEnds[holds.end[i]]}`,
  ];
  const left = holds.valid[i] - holds.to[i];
  if (left > 0) lines.push(`its validity had ${lengthText(left)} left`);
  lines.push(holds.place[i]);
  return lines;
}

const spellWords = {
  killed: "killed, and down",
  stopped: "stopped (SIGSTOP)",
  recovering: "recovering: after its restart it grants nothing yet",
  cut: "cut off",
  slowed: "slowed",
};

function spellLines(spell) {
  const word = spellWords[spell.what] + (spell.note ? ` (${spell.note})` : "");
  return [word, `for ${lengthText(spell.to - spell.from)}, from ${timeText(spell.from)}`];
}

function writeLines(i) {
  const how = writes.how[i];
  const lines = [`wrote at ${timeText(writes.at[i])}: ${how & 1 ? "accepted" : "refused"}`];
  if (how & 2) lines.push("late: its validity was over");
  if (holds.token[writes.hold[i]]) lines.push(`token ${holds.token[writes.hold[i]]}`);
  return lines;
}

function attemptLines(i) {
  const why = attempts.why[i];
  const end = why === kGranted ? "granted" : "no answer came";
  return [
    `asked for “${history.locks[attempts.lock[i]]}” at ${timeText(attempts.from[i])}`,
    (why >= 0 ? `refused: ${history.whys[why]}` : end) +
        `, after ${lengthText(attempts.to[i] - attempts.from[i])}`,
  ];
}

// The last one in the list that is near the time and, if it has rows, near the height.
function nearest(list, at, reach) {
  return list.reduce((best, i) => (Math.abs(at(i) - reach.time) <= reach.near &&
      (best === null || Math.abs(at(i) - reach.time) < Math.abs(at(best) - reach.time)) ? i : best),
  null);
}

function holdAt(lane, time, y, near) {
  const [first, last] = visibleHolds(lane);
  let best = null;
  for (let k = first; k < last; ++k) {
    const i = lane.numbers[k];
    const {top, height} = boxOf(lane, i);
    if (!lane.isDense && (y < top - 2 || y > top + height + 2)) continue;
    const end = holds.end[i] === kReleased ? holds.to[i] : Math.max(holds.to[i], holds.valid[i]);
    if (holds.from[i] - near <= time && time <= end + near) {
      if (best === null || time >= holds.from[i]) best = i;
    }
  }
  return best;
}

// [title, lines] of what is there, or null.
function describe(lane, time, y) {
  const near = (kNear * (view.to - view.from)) / canvases.lanes.clientWidth;
  const reach = {time, near};
  const finding = findings.find((one) => one.from - near <= time && time <= one.to + near &&
      ((lane.kind === "lock" && lane.index === one.lock) ||
       (lane.kind === "client" && one.holds.some((i) => holds.client[i] === lane.index))));
  if (finding) return ["Finding", [finding.text]];
  const jump = lane.jumps.find((one) => Math.abs(one.at - time) <= near);
  if (jump) return [lane.name, [`its wall clock jumps by ${jump.by} ms at ${timeText(jump.at)}`]];
  const write = nearest(lane.writes, (i) => writes.at[i], reach);
  const isLow = y > lane.y + lane.height - 12;
  if (write !== null && (isLow || (writes.how[write] & 1) === 0)) {
    return [lane.name, writeLines(write)];
  }
  const spells = visibleSpells(lane)
      .filter((one) => one.from - near <= time && time <= one.to + near).flatMap(spellLines);
  const hold = holdAt(lane, time, y, near);
  const held = hold === null ? [] : holdLines(hold);
  if (hold !== null || spells.length) {
    const name = lane.kind === "lock" ? history.clients[holds.client[hold]] : lane.name;
    return [name, [...spells, ...held]];
  }
  const attempt = lane.attempts.find(
      (i) => attempts.from[i] - near <= time && time <= attempts.to[i] + near);
  if (attempt !== undefined) return [lane.name, attemptLines(attempt)];
  return null;
}

function placeTip(event) {
  const tip = byId("tip");
  const room = 14;
  const {offsetWidth: width, offsetHeight: height} = tip;
  const x = Math.min(event.clientX + room, innerWidth - width - room);
  const below = event.clientY + room + height < innerHeight;
  tip.style.left = Math.max(x, room) + "px";
  tip.style.top = (below ? event.clientY + room : event.clientY - height - room) + "px";
}

function onHover(event) {
  const tip = byId("tip");
  const time = view.from +
      (event.offsetX / canvases.lanes.clientWidth) * (view.to - view.from);
  const lane = lanes.find((one) => one.y <= event.offsetY && event.offsetY < one.y + one.height);
  const told = lane ? describe(lane, time, event.offsetY) : null;
  tip.hidden = told === null;
  if (told === null) return;
  const title = document.createElement("b");
  title.textContent = told[0];
  tip.replaceChildren(title, told[1].join("\n"));
  placeTip(event);
}
