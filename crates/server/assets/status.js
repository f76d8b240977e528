// Asks for the status every second and redraws what changed. All text goes in as text, never as markup:
// file names come from outside.
"use strict";

const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const state = { last: 0, events: [] };

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// Control and direction characters could make one name look like another.
function shown(text) {
  return String(text ?? "").replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "\ufffd");
}

function rows(id, items, cells) {
  byId(id).replaceChildren(...items.map((item) => {
    const row = element("tr");
    for (const cell of cells(item)) row.append(cell instanceof Node ? cell : element("td", cell));
    return row;
  }));
  byId("no-" + id).hidden = items.length > 0;
  byId(id).closest("table").hidden = items.length === 0;
}

function totals(status) {
  const lag = Math.max(0, status.index.last - status.index.watermark);
  const figures = [
    ["documents", status.documents],
    ["docs/s", status.docs_per_s, 1],
    ["in progress", status.ingestions.in_progress],
    ["completed", status.ingestions.completed],
    ["failed", status.ingestions.failed],
    ["queued tasks", status.tasks.queued],
    ["running tasks", status.tasks.running],
    ["dead letters", status.tasks.dead],
    ["to be indexed", lag],
  ];
  byId("totals").replaceChildren(...figures.map(([name, value, digits]) => {
    const box = element("div");
    const bad = (name === "failed" || name === "dead letters") && value > 0;
    box.append(element("dt", name), element("dd", digits ? value.toFixed(digits) : number.format(value), bad ? "bad" : ""));
    return box;
  }));
}

function batch(b) {
  const all = b.received + b.children;
  const ended = all - b.open;
  const bar = element("progress");
  bar.max = Math.max(all, b.expected ?? 0, 1);
  bar.value = b.state === "finished" ? bar.max : ended;
  const cell = element("td");
  cell.append(bar);
  const label = b.state === "open" ? "counting" : b.state;
  return [
    shown(b.name ?? b.batch_id),
    b.paused ? label + ", paused" : label,
    cell,
    number.format(ended) + " of " + number.format(all),
    element("td", number.format(b.failed), b.failed ? "bad" : ""),
    element("td", number.format(b.dead), b.dead ? "bad" : ""),
  ];
}

function event(e) {
  const about = [e.task_kind, e.detail && e.detail.name, e.document_id ?? e.batch_id].filter(Boolean).map(shown).join(" · ");
  const kind = element("td", e.type, e.status === "ERROR" ? "bad" : "");
  return [number.format(e.id), new Date(e.time).toLocaleTimeString(), kind, about];
}

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(path + " answered " + answer.status);
  return answer.json();
}

async function refresh() {
  const status = await ask("/v1/status");
  totals(status);
  rows("batches", status.batches, batch);
  rows("workers", status.workers, (w) => [
    shown(w.host) + " · " + w.pid, w.state, number.format(w.running), number.format(w.slots),
    w.kinds.length ? shown(w.kinds.join(", ")) : "all",
  ]);
  const dead = await ask("/v1/dead");
  rows("dead", dead.dead, (d) => [
    String(d.task_id), shown(d.kind), shown(d.name), String(d.attempt), shown(d.error ? d.error.message : ""),
  ]);
  if (status.last_event !== state.last || state.events.length === 0) {
    const answer = await ask("/v1/events?after=" + Math.max(0, status.last_event - 20));
    state.events = answer.events.slice(-20).reverse();
    state.last = status.last_event;
    rows("events", state.events, event);
  }
}

async function live() {
  const link = byId("link");
  try {
    await refresh();
    link.textContent = "live, " + new Date().toLocaleTimeString();
    link.className = "";
  } catch (error) {
    link.textContent = "docmill does not answer (" + error.message + "); what is shown may be old";
    link.className = "lost";
  }
  setTimeout(live, document.hidden ? 5000 : 1000);
}

live();
