// The page's script: shows what the server tells, once a second, and counts down in between.
"use strict";
(() => {
  const kTracePoints = 60;  // a minute
  const kSilenceMax = 4000;  // ms without a word
  // What a front door counts, where its name does not say it.
  const kFigureWords = {
    waiters: "waits for locks", released_late: "released late", refused_held: "held by another",
    no_quorum: "no quorum", possible: "holder not known", undone_late: "too late, given back",
    undone_gone: "client gone, given back",
  };
  const kLosses = new Set(["released_late", "no_quorum", "possible", "undone_late"]);

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

  const grouped = (number) => number.toLocaleString("en");

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

  // Of locks that clients of this front door wanted: "no" is a lock that another holds.
  function votesOf(node) {
    const votes = told.door.votes.find((one) => one.node === node.node);
    if (votes === undefined) return element("td", "–", "number", "votes");
    const lost = [];
    if (votes.none > 0) lost.push(`${grouped(votes.none)} no answer`);
    if (votes.no > 0) lost.push(`${grouped(votes.no)} held`);
    const cell = element("td", lost.join(", ") || "none", "number", "votes");
    cell.classList.toggle("lost", votes.none > 0);
    cell.title = `of ${grouped(votes.yes + votes.no + votes.none)} that it was asked for`;
    return cell;
  }

  function showNodes(status, passed) {
    byId("node-table").classList.toggle("no-votes", told.door === null);
    const rows = status.nodes.map((node) => {
      const row = element("tr");
      const trip = node.up ? `${(1000 * node.round_trip_seconds).toFixed(1)} ms` : "–";
      const ttl = node.max_ttl_seconds === undefined ? "–" : spoken(node.max_ttl_seconds);
      const trace = element("td", undefined, "extra");
      trace.append(drawn(traces.get(node.node) ?? []));
      row.append(element("td", node.node, "name"), stateOf(node, passed),
        element("td", node.locks ?? "–", "number", "held"), element("td", tokensOf(node), "extra"),
        element("td", ttl, "number", "extra"),
        ...(told.door === null ? [] : [votesOf(node)]),
        element("td", trip, "number", "extra"), trace);
      return row;
    });
    byId("nodes").replaceChildren(...rows);
    byId("group").textContent = [status.group, status.lines].filter((text) => text).join("; ");
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
    const counts = Object.entries(told.door).filter(([, value]) => typeof value === "number");
    const figures = counts.map(([name, value]) => {
      const group = element("div");
      group.append(element("dt", kFigureWords[name] ?? name.replaceAll("_", " ")),
        element("dd", grouped(value)));
      if (value > 0 && kLosses.has(name)) group.classList.add("lost");
      return group;
    });
    byId("figures").replaceChildren(...figures);
    showAcquisitions(told.door.acquisitions);
  }

  // --- how long a lock took

  function edge(us) {
    return us < 1e6 ? `${us / 1000} ms` : `${us / 1e6} s`;
  }

  function showAcquisitions(buckets) {
    const within = (bucket) => bucket.up_to_us === null ?
      `longer than ${edge(buckets.at(-2).up_to_us)}` : `within ${edge(bucket.up_to_us)}`;
    const all = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
    byId("acquisitions").hidden = all === 0;
    if (all === 0) {
      byId("acquired").textContent = "none was taken yet";
      byId("bars").replaceChildren();
      return;
    }
    const reaching = (share) => {
      let seen = 0;
      return buckets.find((bucket) => (seen += bucket.count) >= share * all);
    };
    byId("acquired").textContent =
      `half ${within(reaching(0.5))}, 99 of 100 ${within(reaching(0.99))}`;
    const first = buckets.findIndex((bucket) => bucket.count > 0);
    const last = buckets.findLastIndex((bucket) => bucket.count > 0);
    const most = Math.max(...buckets.map((bucket) => bucket.count));
    byId("bars").replaceChildren(...buckets.slice(first, last + 1).map((bucket) => {
      const row = element("tr");
      const bar = element("td", undefined, "bar");
      if (bucket.count > 0) {
        const filled = element("div");
        filled.style.width = `${(100 * bucket.count) / most}%`;
        bar.append(filled);
      }
      row.append(element("th", within(bucket)), bar,
        element("td", grouped(bucket.count), "number"));
      return row;
    }));
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
