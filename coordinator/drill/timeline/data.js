// The history as the page works with it. Times are microseconds since it began; holds, writes and
// attempts are columns of numbers, each sorted by time, so that what is visible is found by search.

addEventListener("error", (event) => {
  document.documentElement.dataset.error = event.message;
});

const history = JSON.parse(document.getElementById("history").textContent);
const {holds, writes, attempts, spells, jumps, findings} = history;
const kEnds =
    ["its validity ran out", "released", "lost, as the client noticed", "its client was killed"];
const kReleased = 1;  // of a hold's `end`, as kEnds
const kLost = 2;
const kColours = 8;
const kGranted = -2;  // of an attempt's `why`; -1: no answer

const byId = (id) => document.getElementById(id);

// How many of the sorted column are below the value.
function countBelow(column, value) {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (column[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A row of the picture. `from` and `reach` are sorted: where each thing in it begins, and how far
// to the right this one or any before it goes.
function makeLane(kind, name, index, numbers) {
  return {
    kind, name, index, numbers,
    from: numbers.map((i) => holds.from[i]),
    reach: numbers.reduce((all, i) => {
      const last = all.length ? all[all.length - 1] : 0;
      all.push(Math.max(last, holds.valid[i], holds.to[i]));
      return all;
    }, []),
    attempts: [], writes: [], writeTimes: [], spells: [], jumps: [], rows: 1,
  };
}

// Of a client that holds several locks at once, each stands in a row of its own.
function assignRows(lane) {
  const ends = [];
  lane.numbers.forEach((i) => {
    let row = ends.findIndex((end) => end <= holds.from[i]);
    if (row < 0) row = ends.length < 4 ? ends.push(0) - 1 : 3;
    ends[row] = holds.to[i];
    holds.row[i] = row;
  });
  lane.rows = Math.max(1, ends.length);
}

const kLockLanes = 12;

// The locks of findings come first when there are too many for a lane each.
function shownLocks() {
  const found = new Set(findings.map((finding) => finding.lock));
  const all = history.locks.map((_, lock) => lock);
  const chosen = [...all.filter((l) => found.has(l)), ...all.filter((l) => !found.has(l))];
  return chosen.slice(0, kLockLanes).sort((a, b) => a - b);
}

function makeLanes() {
  const ofLock = history.locks.map(() => []);
  const ofClient = history.clients.map(() => []);
  holds.row = new Uint8Array(holds.from.length);
  holds.from.forEach((_, i) => {
    ofLock[holds.lock[i]].push(i);
    ofClient[holds.client[i]].push(i);
  });
  const clients = history.clients.map((name, i) => makeLane("client", name, i, ofClient[i]));
  const nodes = history.nodes.map((node, i) => makeLane("node", node.name, i, []));
  const parties = [...clients, ...nodes];
  clients.forEach(assignRows);
  attempts.from.forEach((_, i) => clients[attempts.client[i]].attempts.push(i));
  writes.at.forEach((_, i) => clients[holds.client[writes.hold[i]]].writes.push(i));
  for (const lane of clients) lane.writeTimes = lane.writes.map((i) => writes.at[i]);
  spells.forEach((spell) => parties[spell.party].spells.push(spell));
  jumps.forEach((jump) => parties[jump.party].jumps.push(jump));
  const locks = shownLocks().map((l) => makeLane("lock", history.locks[l], l, ofLock[l]));
  return {locks, clients, nodes};
}

const groups = makeLanes();
const lanes = [...groups.locks, ...groups.nodes, ...groups.clients];

// --- words ---

function timeText(us, digits = 6) {
  const sign = us < 0 ? "−" : "";
  const seconds = Math.abs(us) / 1e6;
  if (seconds < 60) return sign + seconds.toFixed(digits) + " s";
  const minutes = Math.floor(seconds / 60 + 1e-9);
  const rest = Math.max(0, seconds - minutes * 60).toFixed(digits);
  return `${sign}${minutes}:${rest.padStart(digits ? digits + 3 : 2, "0")}`;
}

function lengthText(us) {
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1e6) return `${(us / 1e3).toPrecision(3)} ms`;
  return us < 6e7 ? `${(us / 1e6).toPrecision(3)} s` : timeText(us, 0) + " min";
}
