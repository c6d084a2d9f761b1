// The page of a running filter: questions come first; decisions are searched, opened and corrected.

import { Keys, Labels, Select, Table, ask, html, makePage, narrow, number, onKeys, percent, showKeys, signed } from "./common.js";
import { Curves } from "./charts.js";

const page = makePage(Page);
const { draw, inTurn } = page;
const UNDOS = 100;
let state = null;
let messages = []; // the listed ones: questions, or the found decisions
let chosen = null; // id of the message that keys act on
let opened = null; // its whole text and its near-duplicates
let history = [];
let undos = []; // pairs of a function that takes an action back and its text
let note = null;
let annotator = null;
let held = false; // while the pointer is on the decisions, they stay where they are
let turn = 0;
const search = { list: "queue", text: "", sender: "", label: "", low: "0", high: "100" };

// --- requests ---------------------------------------------------------------------------------

async function refresh(force = false) {
  const found = await ask("/api/state");
  if (state && found.run !== state.run) { location.reload(); return; }
  const changed = force || found.revision !== state?.revision;
  state = found;
  annotator ??= localStorage.getItem("annotator") ?? state.annotator;
  if (changed) await list();
}

async function list() {
  const { list: name, low, high, ...rest } = search;
  const query = new URLSearchParams({ ...rest, low: Number(low) / 100 || 0, high: high === "" ? 1 : Number(high) / 100 });
  const mine = ++turn;
  const found = await ask(name === "queue" ? "/api/queue" : `/api/search?${query}`);
  if (mine !== turn) return; // another search has begun
  const known = new Map(found.messages.map((one) => [one.id, one]));
  messages = held ? messages.map((one) => known.get(one.id) ?? one) : found.messages;
  ({ entries: history } = await ask("/api/history"));
  if (chosen !== null) await load(chosen);
  else if (messages.length) choose(messages[0].id, false);
}

async function load(id) {
  const found = await ask(`/api/message?id=${encodeURIComponent(id)}`);
  if (id === chosen) opened = found;
}

function choose(id, show = true) {
  chosen = id;
  window.history.replaceState(null, "", id === null ? "#" : `#${encodeURIComponent(id)}`);
  draw();
  if (show && narrow()) document.getElementById("message").scrollIntoView();
  if (id !== null) inTurn(async () => { if (chosen === id) await load(id); });
}

function hold(on) {
  held = on && search.list === "search";
  if (!on) page.attempt(list);
}

const move = (by) => {
  const place = messages.findIndex((one) => one.id === chosen);
  if (messages.length) choose(messages[place < 0 ? 0 : Math.min(Math.max(place + by, 0), messages.length - 1)].id);
};

// The next question is shown at once; the answers of the filter follow.
function leave(id) {
  if (search.list !== "queue") return;
  const place = messages.findIndex((one) => one.id === id);
  messages = messages.filter((one) => one.id !== id);
  if (chosen === id && place >= 0) choose(messages[Math.min(place, messages.length - 1)]?.id ?? null, false);
}

const send = (ids, label) => ask("/api/labels", { ids, label, annotator });

function remember(text, undo) {
  undos = [...undos.slice(-UNDOS + 1), [text, undo]];
}

function correct(ones, label) {
  const before = ones.map((one) => [one.id, one.sent ? one.sent.label : one.label]);
  const text = ones.length > 1 ? `${ones.length} messages` : `message ${ones[0].id}`;
  leave(ones[0].id);
  inTurn(async () => {
    await send(ones.map((one) => one.id), label);
    note = `${text}: ${label || "unlearn"} was sent`;
    remember(`${text}: taken back`, async () => { for (const [id, old] of before) await send([id], old ?? ""); });
    await refresh(true);
  });
}

function skip(one) {
  leave(one.id);
  inTurn(async () => {
    await ask("/api/skip", { id: one.id, skipped: true });
    note = `message ${one.id} was skipped`;
    remember(`message ${one.id} is asked again`, () => ask("/api/skip", { id: one.id, skipped: false }));
    await refresh(true);
  });
}

function undo() {
  inTurn(async () => {
    const last = undos.pop();
    if (!last) return;
    await last[1]();
    note = last[0];
    await refresh(true);
  });
}

// --- parts ------------------------------------------------------------------------------------

const status = (one) => one.sent ? `${one.sent.label ?? "unlearn"}, sent` : one.label === null ? "no label" : `${one.label}, learned`;
const decided = (one) => one.decision ? html`<bdi>${one.decision.label ?? "no answer"}</bdi> ${percent(one.probability, 0)}` : "no decision yet";

function Entry({ one }) {
  const wrong = one.label !== null && one.decision && one.decision.label !== one.label;
  return html`<li><button type="button" data-id=${one.id} aria-current=${one.id === chosen ? "true" : null} onClick=${() => choose(one.id)}>
    <span class="number">${one.number}</span><bdi class="text">${one.subject || one.text}</bdi>
    <span class="answers"><span class=${wrong ? "answer wrong" : "answer"}>${decided(one)}${wrong && " ✗"}</span>
      <bdi>${one.sender}</bdi><span class="truth">${status(one)}</span></span></button></li>`;
}

function List() {
  const field = (name, text, type = "search") => html`<label>${text} <input type=${type} id=${name} value=${search[name]} min="0" max="100"
    onInput=${(event) => { search[name] = event.target.value; page.attempt(list); }} /></label>`;
  const pick = (name) => (value) => { search[name] = value; page.attempt(list); };
  return html`<section aria-labelledby="list-title" class="stream"><h2 id="list-title">Messages</h2>
    <label>Show <${Select} id="list" value=${search.list} change=${pick("list")}
      options=${[["queue", `questions (${state.waiting})`], ["search", "all decisions"]]} /></label>
    ${search.list === "search" && html`<div class="search" role="search" aria-label="Decisions">
      ${field("text", "Text")}${field("sender", "Sender")}
      <label>Decision <${Select} id="label" value=${search.label} change=${pick("label")}
        options=${[["", "any"], ...state.labels.map((label) => [label, label])]} /></label>
      ${field("low", "Probability from %", "number")}${field("high", "to %", "number")}</div>`}
    <ol id="messages" aria-label=${search.list === "queue" ? "Questions, oldest first" : "Messages, newest first"}
      onMouseEnter=${() => hold(true)} onMouseLeave=${() => hold(false)}>
      ${messages.map((one) => html`<${Entry} key=${one.id} one=${one} />`)}</ol>
    ${!messages.length && html`<p id="none" class="quiet">${search.list === "queue" ? "No label is requested." : "No message matches."}</p>`}</section>`;
}

function Opened() {
  const one = opened?.id === chosen ? opened : messages.find((each) => each.id === chosen);
  if (!one) return html`<p class="quiet">Choose a message to see it and to label it.</p>`;
  const like = (opened?.id === chosen ? opened.like : []);
  const facts = [["From", one.sender], ["Subject", one.subject], ["Date", one.date || (one.time && new Date(one.time).toISOString())]];
  const { decision } = one;
  return html`<h3>Message <bdi>${one.id}</bdi></h3>
    <${Labels} labels=${state.labels} label=${one.sent ? one.sent.label : one.label} choose=${(label) => correct([one], label)}>
      <button type="button" aria-keyshortcuts="0" onClick=${() => correct([one], "")}>unlearn <kbd aria-hidden="true">0</kbd></button>
      ${one.waits && html`<button type="button" aria-keyshortcuts="s" onClick=${() => skip(one)}>skip <kbd aria-hidden="true">s</kbd></button>`}</${Labels}>
    <p class="quiet">Decision: ${decided(one)}${decision?.listed && `, by the list of senders (${decision.listed})`}; ${status(one)}.
      ${" "}<a href=${`#${encodeURIComponent(one.id)}`}>Link to this message</a></p>
    <dl class="mail">${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
    <p class="body" dir="auto" tabindex="0" role="region" aria-label="Text">${one.text}</p>
    ${one.cut && html`<p class="quiet">Only the beginning of the message is shown.</p>`}
    ${decision?.words?.length > 0 && html`<${Table} caption="Top contributing tokens" head=${["token", "contribution"]}
      rows=${decision.words.map(({ word, towards }) => [word, signed(towards)])} />`}
    <h4>Nearly the same</h4>
    ${like.length ? html`<div class="labels" role="group" aria-label="Label all">${state.labels.map((label) => html`<button type="button" key=${label}
        onClick=${() => correct([one, ...like], label)}>all ${like.length + 1} are <bdi>${label}</bdi></button>`)}</div>
      <ul class="like">${like.map((other) => html`<li key=${other.id}><button type="button" onClick=${() => choose(other.id)}>
        <bdi>${(other.subject || other.text).slice(0, 120)}</bdi> (${status(other)}, ${percent(other.likeness, 0)} similar)</button></li>`)}</ul>`
    : html`<p class="quiet">No stored message is nearly the same.</p>`}`;
}

function History() {
  const rows = history.map((one) => [one.time ? new Date(one.time).toISOString().slice(0, 19).replace("T", " ") : "–", one.text || one.id,
    one.label ?? "unlearn", [one.annotator, one.source].filter(Boolean).join(", ") || "–", one.status]);
  return html`<section aria-labelledby="history-title" id="history"><h2 id="history-title">Corrections</h2>
    <p><a href="/api/history.jsonl" download="corrections.jsonl">Export as JSON lines</a></p>
    ${rows.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Corrections, newest first">
      <${Table} caption="Newest first" head=${["time", "message", "label", "by", "status"]} rows=${rows} /></div>`
    : html`<p class="quiet">No label was given yet.</p>`}</section>`;
}

function Quality() {
  const { filter } = state.models;
  return html`<section aria-labelledby="well-title" class="well"><h2 id="well-title">Quality</h2>
    <p id="figures">Accuracy of the decisions on labelled messages: <strong id="accuracy">${percent(filter.accuracy, 2)}</strong> of all
      ${" "}${number(filter.messages)}, <strong id="recent">${percent(filter.recent, 2)}</strong> of the last 500.</p>
    <div id="curve"><${Curves} models=${state.models} /></div></section>`;
}

const KEYS = [[["1", "…", "9"], "label the message; a question is followed by the next one"], [["0"], "unlearn the message"], [["s"], "skip the question"],
  [["u"], "undo"], [["j", "k"], "next, previous message"], [["?"], "show these shortcuts"]];

function Page() {
  if (!state) return html`<p role="status">loading</p>`;
  const name = (event) => { annotator = event.target.value; localStorage.setItem("annotator", annotator); };
  return html`<header><h1>streamnb</h1>
    <p id="progress">${number(state.messages)} messages, ${number(state.waiting)} questions, ${number(state.unlearned)} labels not learned yet</p>
    <div class="controls" role="group" aria-label="Labels"><label>Annotator <input id="annotator" value=${annotator} maxlength="100" size="12" onInput=${name} /></label>
      <button id="undo" type="button" aria-keyshortcuts="u" disabled=${!undos.length} onClick=${undo}>Undo</button>
      <button id="keys" type="button" aria-keyshortcuts="?" onClick=${showKeys}>Keys</button></div></header>
  ${state.trouble && html`<p class="trouble" role="alert">The filter cannot be read: ${state.trouble}</p>`}
  <main><div class="column"><${List} /><${Quality} /></div><div class="column">
    <section aria-labelledby="message-title" id="message" class="message" tabindex="-1"><h2 id="message-title">Message</h2>
      <p class="note" role="status">${note}</p><div id="opened"><${Opened} /></div></section><${History} /></div></main>
  <${Keys} keys=${KEYS} />`;
}

onKeys((key) => {
  const one = opened?.id === chosen ? opened : messages.find((each) => each.id === chosen);
  if (one && /^[0-9]$/.test(key)) {
    const label = key === "0" ? "" : state.labels[Number(key) - 1];
    return label !== undefined && (() => correct([one], label));
  }
  return { j: () => move(1), k: () => move(-1), u: undo, s: one?.waits && (() => skip(one)), "?": showKeys }[key];
});

const fromAddress = () => {
  const id = decodeURIComponent(location.hash.slice(1));
  if (id && id !== chosen) choose(id);
};
window.addEventListener("hashchange", fromAddress);
fromAddress();
page.live(async () => { await refresh(); return 500; });
