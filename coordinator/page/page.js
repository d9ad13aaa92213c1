// The page's script: shows what the server tells, once a second, and counts down in between.
"use strict";
(() => {
  const kTracePoints = 60;  // a minute
  const kSilenceMax = 4000;  // ms without a word

  const byId = (id) => document.getElementById(id);
  const traces = new Map();  // by node: round trips in seconds, null: none
  let heardAt = null;  // performance.now()
  let told = null;

  function element(name, text, ...classes) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    made.classList.add(...classes.filter((one) => one));
    return made;
  }

  function spoken(seconds) {
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    if (seconds < 120) return `${Math.round(seconds)} s`;
    if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
    return `${Math.round(seconds / 3600)} h`;
  }

  // --- nodes

  function note(node) {
    const trace = traces.get(node.node) ?? [];
    trace.push(node.up ? node.round_trip_seconds : null);
    traces.set(node.node, trace.slice(-kTracePoints));
  }

  function drawn(trace) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 120 22");
    svg.setAttribute("aria-hidden", "true");
    const most = Math.max(0.001, ...trace.map((took) => took ?? 0));
    let points = [];
    const flush = () => {
      if (points.length === 0) return;
      const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
      line.setAttribute("points", points.join(" "));
      svg.append(line);
      points = [];
    };
    trace.forEach((took, index) => {
      if (took === null) return flush();
      const x = 120 - (trace.length - 1 - index) * (118 / (kTracePoints - 1)) - 1;
      points.push(`${x.toFixed(1)},${(20 - (took / most) * 18).toFixed(1)}`);
    });
    flush();
    return svg;
  }

  // "recovering" counts down.
  function stateOf(node, passed) {
    const kind = !node.up ? "down" : node.grants ? "well" : "warn";
    const left = node.delay_left_seconds === undefined ? 0 : node.delay_left_seconds - passed;
    const text = left > 0 ? `${node.state}, grants in ${spoken(left)}` : node.state;
    const cell = element("td", text, "state", kind);
    if (node.cause) cell.title = node.cause;
    return cell;
  }

  function tokensOf(node) {
    if (!node.up || node.fenced === undefined) return "–";
    return node.fenced ? "yes" : "not admitted";
  }

  function showNodes(status, passed) {
    const rows = status.nodes.map((node) => {
      const row = element("tr");
      const trip = node.up ? `${(1000 * node.round_trip_seconds).toFixed(1)} ms` : "–";
      const ttl = node.max_ttl_seconds === undefined ? "–" : spoken(node.max_ttl_seconds);
      const trace = element("td", undefined, "extra");
      trace.append(drawn(traces.get(node.node) ?? []));
      row.append(element("td", node.node, "name"), stateOf(node, passed),
        element("td", node.locks ?? "–", "number"), element("td", tokensOf(node), "extra"),
        element("td", ttl, "number", "extra"), element("td", trip, "number", "extra"), trace);
      return row;
    });
    byId("nodes").replaceChildren(...rows);
    byId("group").textContent = status.group;
  }

  function showVerdict(status) {
    const level = { well: "well", degraded: "degraded" }[status.level] ?? "down";
    byId("verdict").className = level;
    byId("verdict-text").textContent = status.verdict;
    byId("notes").replaceChildren(...status.notes.map((text) => element("li", text)));
  }

  // --- locks

  function showLocks(passed) {
    const locks = told.locks;
    byId("lock-table").hidden = locks === null || locks.length === 0;
    if (locks === null) {
      byId("lock-count").textContent = told.why_no_locks;
      return;
    }
    const here = locks.filter((lock) => lock.left_ms === null || lock.left_ms / 1000 > passed);
    byId("lock-count").textContent = here.length === 0 ? "nobody holds one" : `${here.length}`;
    const rows = here.map((lock) => {
      const row = element("tr");
      const left = lock.left_ms === null ? "no end" : spoken(lock.left_ms / 1000 - passed);
      const held = lock.held_ms === undefined ? "–" : spoken(lock.held_ms / 1000 + passed);
      const name = element("td", lock.name, "name");
      name.title = lock.name;
      row.append(name, element("td", lock.label ?? "–", "name"),
        element("td", held, "number", "extra"), element("td", left, "number"),
        element("td", lock.token ?? "–", "number", "extra"),
        element("td", `${lock.nodes} of ${told.status.nodes.length}`, "number", "extra"));
      return row;
    });
    byId("locks").replaceChildren(...rows);
  }

  function showDoor() {
    byId("door").hidden = told.door === null;
    if (told.door === null) return;
    const figures = Object.entries(told.door).map(([name, value]) => {
      const group = element("div");
      group.append(element("dt", name.replaceAll("_", " ")), element("dd", value));
      return group;
    });
    byId("figures").replaceChildren(...figures);
  }

  // --- time

  function show() {
    if (told === null) return;
    const passed = (performance.now() - heardAt) / 1000;
    showNodes(told.status, passed);
    showLocks(passed);
    const isLost = 1000 * passed > kSilenceMax;
    const contact = byId("contact");
    contact.classList.toggle("lost", isLost);
    contact.textContent = isLost ? `no word for ${spoken(passed)}: what stands here is old` : "live";
    if (isLost) byId("verdict").className = "unknown";
  }

  // It comes back by itself, unless it was told that too many look already.
  function listen() {
    const events = new EventSource("events");
    events.onmessage = hear;
    events.onerror = () => {
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
    };
  }

  function hear(event) {
    told = JSON.parse(event.data);
    heardAt = performance.now();
    byId("title").textContent = told.title;
    document.title = `${told.status.level}: ${told.title}`;
    told.status.nodes.forEach(note);
    showVerdict(told.status);
    showDoor();
    show();
  }

  listen();
  setInterval(show, 250);
})();
