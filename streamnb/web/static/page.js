// The page has three views: Review (messages and their labels), Quality and Words. The address has the view, the search and the message.

import { Keys, Labels, Select, Table, ask, html, makePage, named, narrow, number, onKeys, percent, plural, showKeys, signed } from "./common.js";
import { Curves, Reliability } from "./charts.js";

const UNDOS = 100;
const PART = 20_000; // characters of a text that are shown at once
const UNSURE = "unsure"; // decision of a filter that has too little evidence
const page = makePage(Page);
const { draw, inTurn } = page;
let state = null;
let messages = []; // the listed ones
let chosen = null; // id of the message that keys act on
let opened = null; // its whole text, its reasons and similar messages, once they have arrived
let corrections = [];
let undos = []; // what takes the last actions back: requests and their texts
let note = null;
let annotator = null;
let held = false; // while the pointer is on the list, its messages stay where they are
let newer = 0; // messages that the list does not show yet
let selected = new Set(); // ids that are labelled together
let anchor = null; // id of the message that was selected last
let picked = null; // where messages have several labels: the ids that labels are picked for, and these labels
const view = { draft: "", tried: null, tokens: null, cut: 50, cost: 1, positive: null };

// --- the address ------------------------------------------------------------------------------

const VIEWS = { review: "Review", quality: "Quality", words: "Words" };
const DEFAULTS = { view: "review", kind: null, text: "", sender: "", label: "", low: "0", high: "100", id: null };
const SEARCH = ["kind", "text", "sender", "label", "low", "high"];

const addressOf = (changes = {}) => {
  const now = { ...Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, view[name]])), id: chosen, ...changes };
  const usual = { ...DEFAULTS, kind: state && startKind() };
  return `#${new URLSearchParams(Object.entries(now).filter(([name, value]) => value !== null && value !== usual[name]))}`;
};

function readAddress() {
  if (/^#[^=]+$/.test(location.hash)) return write(false); // the link to the content
  const found = { ...DEFAULTS, ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))) };
  chosen = found.id;
  if (opened?.id !== chosen) opened = null;
  for (const name of ["view", ...SEARCH]) view[name] = found[name];
  if (!(view.view in VIEWS)) view.view = DEFAULTS.view;
  if (state) view.kind ??= startKind();
}

// A step is an entry of the history, to which Back returns; other changes replace the present entry.
function write(isStep) {
  const address = addressOf();
  if (address !== (location.hash || "#")) history[isStep ? "pushState" : "replaceState"](null, "", address);
}

function show(name) {
  view.view = name;
  held = false;
  write(true);
  draw();
}

// Disagreements with a teacher come first, unless people are asked. The page keeps its first list.
let started = null;
const startKind = () => started ??= state.stream || state.several ? "" : !state.waiting && state.disputed ? "disputed" : "questions";
const set = (name) => (event) => { view[name] = event.target.value; draw(); };

// --- requests ---------------------------------------------------------------------------------

async function refresh(force = false) {
  const query = view.positive === null ? "" : `?pos_label=${encodeURIComponent(view.positive)}`;
  const found = await ask(`/api/state${query}`);
  // A server that was started again has other messages and another token.
  if (state && found.run !== state.run) { location.reload(); return; }
  const first = state === null;
  const changed = force || found.revision !== state?.revision;
  state = found;
  annotator ??= localStorage.getItem("annotator") ?? state.annotator;
  view.kind ??= startKind();
  if (first) restoreUndos();
  if (changed) await list();
}

const conditions = () => {
  const { kind, text, sender, label, low, high } = view;
  const bounds = { low: Number(low) / 100 || 0, high: high === "" ? 1 : Number(high) / 100 };
  return new URLSearchParams({ kind, text, sender, label, ...bounds, id: chosen ?? "" });
};

let asked = 0; // requests for the list
async function list(isSearch = false) {
  const turn = ++asked;
  const found = await ask(`/api/messages?${conditions()}`);
  if (turn !== asked) return; // another search has begun
  const known = new Map(found.messages.map((one) => [one.id, one]));
  const top = Math.max(0, ...messages.map((one) => one.number));
  const stays = held && !isSearch;
  newer = stays ? found.messages.filter((one) => one.number > top).length : 0;
  messages = stays ? messages.map((one) => known.get(one.id) ?? one) : found.messages;
  corrections = found.corrections;
  // The answer may come after another message was chosen, and after the filter has dropped the message.
  if (chosen !== null && opened?.id === chosen && found.revision !== null && found.revision !== opened?.revision) await load(chosen);
  else if (chosen !== null && opened === null) await load(chosen);
  else if (chosen === null && view.kind === "questions" && messages.length) choose(messages[0].id, false);
}

async function load(id) {
  const found = await ask(`/api/message?id=${encodeURIComponent(id)}`);
  if (id === chosen) opened = found;
}

function choose(id, show = true) {
  chosen = id;
  if (show) note = null;
  write(show);
  draw();
  if (show && narrow()) document.getElementById("message").scrollIntoView();
  if (id !== null) inTurn(async () => { if (chosen === id) await load(id); });
}

function hold(on) {
  held = on && view.kind !== "questions";
  if (!on) page.attempt(list);
}

function move(by) {
  const place = messages.findIndex((one) => one.id === chosen);
  if (!messages.length) return;
  choose(messages[place < 0 ? 0 : Math.min(Math.max(place + by, 0), messages.length - 1)].id);
  document.querySelector("#messages [aria-current]")?.scrollIntoView({ block: "nearest" });
}

// --- labels -----------------------------------------------------------------------------------

// The next message is shown at once where labelled messages leave the list; the answers follow.
function leave(id) {
  if (view.kind !== "questions" && view.kind !== "unlabelled") return;
  const place = messages.findIndex((one) => one.id === id);
  messages = messages.filter((one) => one.id !== id);
  if (chosen === id && place >= 0) choose(messages[Math.min(place, messages.length - 1)]?.id ?? null, false);
}

const undosKey = () => `undos-${state.run}`;
const keepUndos = () => sessionStorage.setItem(undosKey(), JSON.stringify(undos));
function restoreUndos() {
  undos = JSON.parse(sessionStorage.getItem(undosKey()) ?? "[]");
}

// `work` returns the request that takes the action back.
function act(work, done, undone) {
  inTurn(async () => {
    const [path, body] = await work();
    note = done;
    undos = [...undos.slice(-UNDOS + 1), { path, body, undone }];
    keepUndos();
    await refresh(true);
  });
}

// The messages are those at the time of the key or click, whatever has arrived meanwhile.
function correct(ids, label) {
  const text = ids.length > 1 ? `${number(ids.length)} messages` : `Message ${ids[0]}`;
  const done = state.stream ? (label === null ? "unlearned" : `learned as ${named(label)}`) : `${label === null ? "unlearn" : named(label)} was sent`;
  selected = new Set();
  picked = null;
  if (ids.length === 1) leave(ids[0]);
  act(async () => {
    const { before } = await ask("/api/labels", { ids, label, annotator });
    return ["/api/restore", { labels: before }];
  }, `${text}: ${done}`, `${text}: taken back`);
}

// Labels are for the selected messages, or else for the open one.
const targets = () => selected.size ? [...selected] : chosen === null ? [] : [chosen];

// Several labels are picked one by one, and given at once. The first ones are the labels of the message, or else those of its decision.
const isFor = () => JSON.stringify(targets());
const present = (one) => one.sent ? one.sent.label : one.label;
const firstPicked = (one) => !one ? [] : present(one) ?? Object.values(one.answers)[0]?.label ?? [];
const pickedLabels = () => picked?.for === isFor() ? picked.labels : selected.size ? [] : firstPicked(current());
function pick(label) {
  const labels = pickedLabels();
  picked = { for: isFor(), labels: labels.includes(label) ? labels.filter((each) => each !== label) : [...labels, label].sort() };
  draw();
}
const givePicked = () => correct(targets(), pickedLabels());
const give = (label) => state.several ? pick(label) : correct(targets(), label);

function skip({ id }) {
  leave(id);
  act(async () => {
    await ask("/api/skip", { id, skipped: true });
    return ["/api/skip", { id, skipped: false }];
  }, `Message ${id} was skipped`, `Message ${id} is asked again`);
}

function undo() {
  inTurn(async () => {
    const last = undos.pop();
    if (!last) return;
    keepUndos();
    await ask(last.path, { annotator, ...last.body });
    note = last.undone;
    await refresh(true);
  });
}

function select(id, isOn = !selected.has(id)) {
  selected = new Set(selected);
  anchor = id;
  selected[isOn ? "add" : "delete"](id);
  draw();
}

// Selects the messages from the one that was selected last, or else the open one, to this one.
function selectTo(id) {
  const places = [anchor ?? chosen, id].map((each) => messages.findIndex((one) => one.id === each));
  const [low, high] = places.includes(-1) ? [places[1], places[1]] : places.sort((a, b) => a - b);
  selected = new Set([...selected, ...messages.slice(low, high + 1).map((one) => one.id)]);
  draw();
}

function selectAll() {
  inTurn(async () => { selected = new Set((await ask(`/api/ids?${conditions()}`)).ids); });
}

// --- the list ---------------------------------------------------------------------------------

function status(one) {
  if (one.sent) return html`<bdi>${named(one.sent.label) ?? "unlearn"}</bdi>, sent`;
  const known = one.label === null ? (state.several ? "not labelled" : "no label") : html`<bdi>${named(one.label)}</bdi>`;
  return html`${known}${!isSame(one.label, one.given) && `, ${one.given === null ? "learned" : "corrected"}`}`;
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// The labels of a decision with their probabilities; the most likely label in brackets if it was not decided.
function decided({ label, shares }) {
  if (label === null) return "no answer";
  const listed = shares.map(([each, share], place) => html`${place ? ", " : ""}<bdi>${each}</bdi> ${percent(share, 0)}`);
  if (Array.isArray(label)) return label.length ? listed : html`${named(label)}${shares.length > 0 && html` (${listed})`}`;
  if (!shares.length) return html`<bdi>${label}</bdi> `;
  const [likeliest, share] = shares[0];
  return html`<bdi>${label}</bdi>${label === likeliest ? "" : html` (<bdi>${likeliest}</bdi>)`} ${percent(share, 0)}`;
}

function Answers({ one }) {
  const names = Object.keys(one.answers);
  if (!names.length) return "no decision yet";
  return names.map((name, place) => {
    const answer = one.answers[name];
    const wrong = one.label !== null && ![null, UNSURE].includes(answer.label) && !isSame(answer.label, one.label);
    return html`<span class=${wrong ? "answer wrong" : "answer"}>${names.length > 1 && `${name}: `}${decided(answer)}${wrong && " ✗"}</span>${place < names.length - 1 && " "}`;
  });
}

function Entry({ one, isStop }) {
  const click = (event) => event.shiftKey ? selectTo(one.id) : choose(one.id);
  return html`<li class=${selected.has(one.id) ? "selected" : null}>
    <input type="checkbox" tabindex="-1" aria-label=${`Select message ${one.id}`} checked=${selected.has(one.id)}
      onClick=${(event) => event.shiftKey ? selectTo(one.id) : select(one.id)} />
    <button type="button" data-id=${one.id} tabindex=${isStop ? 0 : -1} aria-current=${one.id === chosen ? "true" : null} onClick=${click}>
    <span class="number">${one.number}</span><bdi class="text">${one.subject || one.text}</bdi>
    <span class="answers"><${Answers} one=${one} /><bdi>${one.sender}</bdi><span class="truth">${status(one)}</span></span></button></li>`;
}

// One Tab stop leads into the list; arrows move in it.
function arrows(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || event.target.tagName !== "BUTTON") return;
  event.preventDefault();
  move(by);
  requestAnimationFrame(() => document.querySelector("#messages [aria-current]")?.focus());
}

function List() {
  const pick = (name) => (value) => { view[name] = value; selected = new Set(); write(false); page.attempt(() => list(true)); };
  const field = (name, text, type = "search") => html`<label>${text} <input type=${type} id=${name} value=${view[name]} min="0" max="100"
    onInput=${(event) => pick(name)(event.target.value)} /></label>`;
  const isQueue = view.kind === "questions";
  const kinds = [["", "all messages"], ["wrong", "wrong decisions"], ["unlabelled", "without a label"]];
  if (!state.stream) kinds.unshift(["questions", `questions (${state.waiting})`]);
  if (Object.keys(state.models).length > 1) kinds.push(["disputed", "models disagree"]);
  else if (state.disputed || view.kind === "disputed") kinds.unshift(["disputed", `teacher disagrees (${state.disputed})`]);
  if (state.contested || view.kind === "contested") kinds.push(["contested", `annotators disagree (${state.contested})`]);
  const decisions = state.unsure ? [...state.labels, UNSURE] : state.labels;
  const stop = messages.some((one) => one.id === chosen) ? chosen : messages[0]?.id;
  return html`<section aria-labelledby="list-title" class="stream"><h2 id="list-title">Messages</h2>
    <div class="search" role="search" aria-label="Messages"><label>Show <${Select} id="kind" value=${view.kind} change=${pick("kind")} options=${kinds} /></label>
      ${!isQueue && html`${field("text", "Text")}${!state.stream && field("sender", "Sender")}
      <label>Decision <${Select} id="label" value=${view.label} change=${pick("label")}
        options=${[["", "any"], ...decisions.map((label) => [label, label])]} /></label>
      <span class="bounds">${field("low", "Probability from %", "number")} ${field("high", "to %", "number")}</span>`}</div>
    <p class="selection"><span role="status">${selected.size ? `${number(selected.size)} selected` : ""}</span>
      ${messages.length > 0 && html`<button type="button" id="select-all" onClick=${selectAll}>Select all that match</button>`}
      ${selected.size > 0 && html`<button type="button" onClick=${() => { selected = new Set(); draw(); }}>Select none</button>`}
    </p>${!isQueue && html`<p class="quiet newer" aria-hidden="true">${newer > 0 ? `${number(newer)} newer, shown when the pointer leaves the list` : " "}</p>`}
    <ol id="messages" aria-label=${isQueue ? "Questions, oldest first" : "Messages, newest first"} onKeyDown=${arrows}
      onMouseEnter=${() => hold(true)} onMouseLeave=${() => hold(false)}>
      ${messages.map((one) => html`<${Entry} key=${one.id} one=${one} isStop=${one.id === stop} />`)}</ol>
    ${!messages.length && html`<p id="none" class="quiet">${isQueue ? "No label is requested." : state.messages ? "No message matches."
      : "No messages yet."}</p>`}</section>`;
}

// --- quality ------------------------------------------------------------------------------------

function Confusion({ name, one }) {
  const { labels } = state;
  if (!one.confusion.length) return html`<p class="quiet">No decisions yet.</p>`;
  if (state.several) return html`<${EachLabel} name=${name} one=${one} />`;
  if (labels.length > 8) {
    const mistakes = one.confusion.filter((pair) => pair.label !== pair.decision).slice(0, 20);
    return html`<${Table} caption=${`${name}: most frequent errors`} head=${["label", "decision", "messages"]}
      rows=${mistakes.map((pair) => [pair.label, pair.decision, number(pair.messages)])} />`;
  }
  const count = (label, decision) =>
    number(one.confusion.find((pair) => pair.label === label && pair.decision === decision)?.messages ?? 0);
  return html`<${Table} caption=${name} head=${["label", ...labels.map((label) => `decided ${label}`)]}
    rows=${labels.map((label) => [label, ...labels.map((decision) => count(label, decision))])} />`;
}

// Messages whose decision has a label rightly, not at all, or wrongly.
function EachLabel({ name, one }) {
  const found = new Map();
  for (const { label, decision, messages } of one.confusion) {
    const counts = found.get(label ?? decision) ?? { right: 0, missed: 0, added: 0 };
    counts[label === null ? "added" : decision === null ? "missed" : "right"] += messages;
    found.set(label ?? decision, counts);
  }
  const rows = [...found].sort(([, a], [, b]) => b.missed + b.added - a.missed - a.added).slice(0, 20).map(([label, { right, missed, added }]) =>
    [label, number(right), number(missed), number(added), percent(2 * right / (2 * right + missed + added), 0)]);
  return html`<${Table} caption=${`${name}: labels with most errors`} head=${["label", "right", "missed", "added", "F1"]} rows=${rows} />`;
}

function Threshold() {
  if (state.labels.length < 2) return null;
  const cost = Math.max(1, Number(view.cost) || 1);
  const cut = Number(view.cut) / 100;
  const whole = (one) => cost * one.lost + one.missed;
  const table = Object.entries(state.models).filter(([, { messages }]) => messages).map(([name, { cuts }]) => {
    const here = cuts.reduce((a, b) => Math.abs(b.cut - cut) < Math.abs(a.cut - cut) ? b : a);
    const best = cuts.reduce((a, b) => whole(b) < whole(a) ? b : a);
    return [name, here.lost, here.missed, whole(here), `${best.cut.toFixed(2)} costs ${whole(best)}`];
  });
  const positive = (label) => { view.positive = label; page.attempt(refresh); };
  return html`<section aria-labelledby="cut-title" class="cut"><h2 id="cut-title">Threshold</h2>
    <label>Decide for <${Select} id="positive" value=${state.pos_label} change=${positive}
      options=${state.labels.map((label) => [label, label])} /></label>
    <label for="cut">from a probability of <output id="cut-value" for="cut">${cut.toFixed(2)}</output></label>
    <input id="cut" type="range" min="1" max="99" value=${view.cut} onInput=${set("cut")} />
    <label for="cost">Cost of a false positive, relative to a false negative
      <input id="cost" type="number" min="1" max="10000" value=${view.cost} onInput=${set("cost")} /></label>
    <div id="costs" aria-live="polite"><${Table} caption="Errors in the last 5,000 messages"
      head=${["model", "false positives", "false negatives", "cost", "cheapest"]} rows=${table} /></div></section>`;
}

function Figures() {
  const table = Object.entries(state.models).map(([name, one]) =>
    [name, percent(one.accuracy, 2), percent(one.recent, 2), ...(state.several ? [percent(one.micro_f1, 2)] : []), number(one.messages),
      ...(state.words ? [number(state.words[name])] : [])]);
  return html`<section aria-labelledby="well-title" class="well" tabindex="0"><h2 id="well-title">Accuracy</h2>
    <div id="figures"><${Table} caption=${state.several ? "Decisions with all labels right" : "Decisions on labelled messages"} rows=${table}
      head=${["model", "accuracy", "last 500", ...(state.several ? ["micro-F1"] : []), "messages", ...(state.words ? ["words"] : [])]} /></div>
    <h3>Accuracy over the last 500 messages</h3><div id="curve"><${Curves} models=${state.models} volume=${state.volume} /></div></section>`;
}

function Counts() {
  const models = Object.entries(state.readiness);
  const labels = [...state.labels].sort((a, b) => (state.labelled[b] ?? 0) - (state.labelled[a] ?? 0));
  const rows = labels.map((label) => [label, number(state.labelled[label] ?? 0), ...models.map(([, { labels }]) => number(Math.round(labels[label] ?? 0)))]);
  return html`<section aria-labelledby="counts-title" class="counts" tabindex="0"><h2 id="counts-title">Labels</h2>
    ${rows.length ? html`<${Table} caption="Labelled messages on the page, and messages in the model" rows=${rows}
      head=${["label", "on the page", ...models.map(([name]) => `in ${state.stream ? name : "the model"}`)]} />`
    : html`<p class="quiet">No label is known yet.</p>`}
    ${models.map(([name, { ready, reason }]) => html`<p class="ready">${state.stream ? name : "The model"} is ${ready ? "ready" : `not ready: ${reason}`}.</p>`)}
    <h3>Agreement between annotators</h3><${Agreement} /></section>`;
}

function Agreement() {
  if (!state.agreement.length) return html`<p class="quiet">No message was labelled by two annotators.</p>`;
  const rows = state.agreement.map(({ annotators, messages, same, kappa }) =>
    [annotators.join(", "), number(messages), percent(same), kappa === null ? "–" : kappa.toFixed(2)]);
  return html`<div id="agreement"><${Table} caption="Messages that two annotators labelled" head=${["annotators", "messages", "same label", "kappa"]} rows=${rows} /></div>
    ${state.contested > 0 && html`<p><a href=${addressOf({ view: "review", kind: "contested", id: null })}>Show ${plural(state.contested, "message")} with different labels</a></p>`}`;
}

const Quality = () => html`<main class="quality" id="main" tabindex="-1"><${Figures} />
  <section aria-labelledby="calibration-title"><h2 id="calibration-title">Calibration</h2><div id="reliability"><${Reliability} models=${state.models} /></div></section>
  <${Counts} /><${Threshold} />
  <section aria-labelledby="confusion-title" class="confusion" tabindex="0"><h2 id="confusion-title">${state.several ? "Each label" : "Confusion matrix"}</h2><div id="confusion" class="tables">
    ${Object.entries(state.models).map(([name, one]) => html`<${Confusion} name=${name} one=${one} />`)}</div></section></main>`;

function Tokens() {
  const load = () => inTurn(async () => { view.tokens = await ask("/api/tokens", {}); });
  const tables = Object.entries(view.tokens ?? {}).flatMap(([name, classes]) => Object.entries(classes).map(([label, tokens]) =>
    html`<${Table} caption=${`${name}: for ${label}`} head=${["token", "contribution"]}
      rows=${tokens.map(([token, lead]) => [token, signed(lead)])} />`));
  return html`<section aria-labelledby="tokens-title" class="words"><h2 id="tokens-title">Most informative tokens</h2>
    <button type="button" onClick=${load}>Show tokens of the last 200 messages</button>
    <div id="tokens" class="tables">${tables}</div></section>`;
}

// --- a message --------------------------------------------------------------------------------

const shares = (probabilities) => Object.entries(probabilities).sort((a, b) => b[1] - a[1]).slice(0, 6);

const strongest = (words) => words.slice(0, 5).map(([word, adds]) => `${word} ${signed(adds)}`).join(", ") || "–";

function Arrival({ name, then, now }) {
  const words = ({ label }, found) => found.length ? `for ${label}: ${strongest(found)}` : "–";
  const decision = ({ label, probabilities }) => label === null ? "no answer" : `${label} ${percent(probabilities[label])}`;
  return html`<${Table} caption="Before it was learned, and now" head=${[name, "at arrival", "now"]} rows=${[
    ["decision", decision(then), decision(now)],
    ["strongest words", words(then, then.tokens), words(now, now.words)]]} />`;
}

// The text in parts, each requested when it is wanted.
function Text({ one }) {
  const parts = one.parts ?? { text: one.text, characters: null };
  const more = () => inTurn(async () => {
    const found = await ask(`/api/text?${new URLSearchParams({ id: one.id, begin: parts.text.length })}`);
    one.parts = { text: parts.text + found.text, characters: found.characters };
  });
  const isMore = parts.characters === null ? one.text.length >= PART : parts.text.length < parts.characters;
  return html`<p class="body" dir="auto" tabindex="0" role="region" aria-label="Text">${parts.text}</p>
    ${isMore && html`<p><button type="button" class="more" onClick=${more}>Show the next part</button></p>`}`;
}

// A model of several labels: the reasons of each label that it decides, and of those that the message has.
function LookAtEach({ name, seen, then, one, heading }) {
  const reasons = Object.entries(seen.reasons);
  if (!reasons.length) return html`<div class="look"><${heading}>${name}<//><p class="quiet">The model has not learned a label yet.</p></div>`;
  const isLong = reasons.some(([, reason]) => reason === null);
  return html`<div class="look"><${heading}>${name}: <strong class="decision">${named(seen.label)}</strong><//>
    <p class="shares">${shares(seen.probabilities).map(([label, share], place) => html`${place ? ", " : ""}<bdi>${label}</bdi> ${percent(share)}`)}</p>
    ${isLong ? html`<${TooLong} seen=${seen} one=${one} />` : reasons.sort(([a], [b]) => seen.probabilities[b] - seen.probabilities[a]).map(([label, reason], place) =>
      html`<details key=${label} class="reason" open=${place === 0}><summary><bdi>${label}</bdi> ${percent(seen.probabilities[label])}${
        seen.label.includes(label) ? "" : ", not decided"}</summary>
        <${Reason} name=${`${name}, ${label}`} label=${label} without=${`it would not have ${label}`} hidden=${seen.hidden} reason=${reason}
          arrival=${then?.reasons && html`<${Table} caption="Before it was learned, and now" head=${[label, "at arrival", "now"]} rows=${[
            ["probability", percent(then.probabilities[label]), percent(seen.probabilities[label])],
            ["strongest words", strongest(then.reasons[label] ?? []), strongest(reason.words)]]} />`} /></details>`)}</div>`;
}

const TooLong = ({ seen, one }) => html`<p class="quiet hidden">The message has ${number(seen.hidden)} characters: too many to explain.</p>
  ${one && html`<${Text} one=${one} />`}`;

function Look({ name, seen, then, one, heading = "h4" }) {
  if (seen.reasons) return html`<${LookAtEach} name=${name} seen=${seen} then=${then} one=${one} heading=${heading} />`;
  if (!seen.against) {
    return html`<div class="look"><${heading}>${name}<//><p class="quiet">${seen.label === null
      ? "The model has not learned a message yet." : `The model has learned only ${seen.label} so far.`}</p></div>`;
  }
  const decision = html`<${heading}>${name}: <strong class="decision">${seen.label}</strong><//>
    <p class="shares">${shares(seen.probabilities).map(([label, share], place) => html`${place ? ", " : ""}<bdi>${label}</bdi> ${percent(share)}`)}</p>`;
  const arrival = then && html`<${Arrival} name=${name} then=${then} now=${seen} />`;
  if (seen.lead === null) {
    return html`<div class="look">${decision}<${TooLong} seen=${seen} one=${one} />${arrival}</div>`;
  }
  const without = Object.keys(seen.probabilities).length === 2 ? `it would be ${seen.against}` : `it would not be ${seen.label}`;
  return html`<div class="look">${decision}<${Reason} name=${name} label=${seen.label} against=${seen.against} without=${without}
    hidden=${seen.hidden} reason=${seen} arrival=${arrival} /></div>`;
}

function Reason({ name, label, against, without, hidden, reason, arrival }) {
  const largest = Math.max(0.05, ...reason.pieces.map((piece) => Math.abs(piece.adds)));
  const words = reason.pieces.flatMap(({ text, adds }) => {
    const level = Math.round(Math.abs(adds) / largest * 4);
    return [html`<mark class=${level ? `${adds > 0 ? "for" : "against"}-${level}` : "flat"} title=${`${signed(adds)} for ${label}`}>${text}</mark>`, " "];
  });
  const gone = reason.without.flatMap((piece, place) =>
    [place ? (place === reason.without.length - 1 ? " and " : ", ") : "", html`<em>${piece}</em>`]);
  const tokens = reason.tokens.map((one) =>
    [one.token, signed(one.adds), signed(one.adds - one.correction), signed(one.correction)]);
  const pair = against ? `${label} against ${against}` : label;
  return html`<p class="coloured" dir="auto" tabindex="0" role="group" aria-label=${`Words for ${name}`}>${words}</p>
    ${hidden > 0 && html`<p class="quiet hidden">${number(hidden)} more characters are not shown; the decision used them.</p>`}
    ${gone.length > 0 && html`<p class="without">Without ${gone} ${without}.</p>`}
    <p class="quiet">The score for ${pair} is ${signed(reason.lead)}: the prior contributes ${signed(reason.prior)}, the
      words ${signed(reason.lead - reason.prior - reason.rest)}, the length and other tokens ${signed(reason.rest)}.</p>
    ${arrival}
    <details><summary>Contribution of each token</summary><${Table} caption=${`For ${pair}`}
      head=${["token", "total", "counts", "corrections"]} rows=${tokens} /></details>`;
}

// The decision of a filter: its models are elsewhere, and a decision names words only if the filter explains it.
function Decision({ one, answer }) {
  return html`<${Text} one=${one} />
    ${one.cut && html`<p class="quiet">Only the beginning of the message is shown.</p>`}
    ${answer?.tokens.length > 0 && html`<${Table} caption="Top contributing words" head=${["word", "contribution"]}
      rows=${answer.tokens.map(([word, adds]) => [word, signed(adds)])} />`}`;
}

function Similar({ one, like }) {
  const near = like.filter((other) => other.near);
  return html`<h4>Similar messages</h4>
    ${near.length > 0 && state.several && html`<div class="labels"><button type="button" onClick=${() => correct([one, ...near].map((each) => each.id), pickedLabels())}>all
      ${" "}${near.length + 1}: <bdi>${named(pickedLabels())}</bdi></button></div>`}
    ${near.length > 0 && !state.several && html`<div class="labels" role="group" aria-label="Label all">${state.labels.map((label) => html`<button type="button" key=${label}
      onClick=${() => correct([one, ...near].map((each) => each.id), label)}>all ${near.length + 1} are <bdi>${label}</bdi></button>`)}</div>`}
    ${like.length ? html`<ul class="like">${like.map((other) => html`<li key=${other.id}><button type="button" onClick=${() => choose(other.id)}>
      <bdi>${(other.subject || other.text).slice(0, 120)}</bdi>${" "}(${status(other)}, ${percent(other.likeness, 0)} similar)</button></li>`)}</ul>`
    : html`<p class="quiet">No similar message is stored.</p>`}`;
}

function Give() {
  const labels = pickedLabels();
  return html`<button type="button" id="give" aria-keyshortcuts="g" onClick=${givePicked}>Give ${labels.length ? plural(labels.length, "label") : "no label"} <kbd aria-hidden="true">g</kbd></button>`;
}

// Picked labels that the page does not know yet are offered as well.
const offered = () => state.several ? [...state.labels, ...pickedLabels().filter((each) => !state.labels.includes(each))] : state.labels;

// The chosen message: from the list while its details are on the way.
const current = () => opened?.id === chosen ? opened : messages.find((one) => one.id === chosen);

function Opened() {
  const one = current();
  if (!one && selected.size) {
    return html`<p class="note" id="bulk">The label is for ${plural(selected.size, "selected message")}.</p>
      <${Labels} labels=${offered()} pressed=${state.several ? pickedLabels() : []} choose=${give} adds=${state.new_labels}>
        ${state.several && html`<${Give} />`}</${Labels}>`;
  }
  if (!one) return html`<p class="quiet">Choose a message to see the reasons of its decision and to label it.</p>`;
  const details = one === opened ? opened : null;
  const facts = [["From", one.sender], ["Subject", one.subject], ["Date", one.date || (one.time && new Date(one.time).toISOString())]];
  const listed = details?.arrival.filter?.listed;
  return html`<h3>Message <bdi>${one.id}</bdi></h3>
    ${selected.size > 0 && html`<p class="note" id="bulk">The label is for ${plural(selected.size, "selected message")}.</p>`}
    <${Labels} labels=${offered()} pressed=${state.several ? pickedLabels() : [present(one)]} choose=${give} adds=${state.new_labels}>
      ${state.several && html`<${Give} />`}
      <button type="button" aria-keyshortcuts="0" onClick=${() => correct(targets(), null)}>unlearn <kbd aria-hidden="true">0</kbd></button>
      ${one.waits && html`<button type="button" aria-keyshortcuts="s" onClick=${() => skip(one)}>skip <kbd aria-hidden="true">s</kbd></button>`}</${Labels}>
    <p class="quiet">Decision: <${Answers} one=${one} />${listed && `, by the list of senders (${listed})`}; ${status(one)}.
      ${" "}<a href=${addressOf({ id: one.id })}>Link to this message</a></p>
    <dl class="mail">${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
    ${details?.looks ? Object.entries(details.looks).map(([name, seen]) =>
      html`<${Look} key=${name} name=${name} seen=${seen} one=${one} then=${details.arrival[name]} />`)
    : html`<${Decision} one=${one} answer=${details?.arrival.filter} />`}
    ${details && html`<${Similar} one=${one} like=${details.like} />`}`;
}

function History() {
  const rows = corrections.map((one) => [one.time ? new Date(one.time).toISOString().slice(0, 19).replace("T", " ") : "–", one.text || one.id,
    named(one.label) ?? "unlearn", [one.annotator, one.source].filter(Boolean).join(", ") || "–", one.status]);
  return html`<section aria-labelledby="history-title" id="history"><h2 id="history-title">Corrections</h2>
    <p><a href="/api/corrections.jsonl" download="corrections.jsonl">Export as JSON lines</a></p>
    ${rows.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Corrections, newest first">
      <${Table} caption="Newest first" head=${["time", "message", "label", "by", "status"]} rows=${rows} /></div>`
    : html`<p class="quiet">No label was given yet.</p>`}</section>`;
}

// --- models in this process -------------------------------------------------------------------

let typed = 0;
function tryOut(event) {
  const turn = ++typed;
  view.draft = event.target.value;
  page.attempt(async () => {
    const found = view.draft.trim() ? await ask("/api/try", { text: view.draft }) : null;
    if (turn === typed) view.tried = found; // else it answers an older text
  });
}

function TryOut() {
  return html`<section aria-labelledby="try-title" class="try"><h2 id="try-title">Try a message</h2>
    <label for="draft">The models classify the text while you type. They do not learn it.</label>
    <textarea id="draft" rows="3" spellcheck="false" aria-keyshortcuts="/" value=${view.draft} onInput=${tryOut}></textarea>
    <div id="tried" aria-live="polite">${view.tried
      && Object.entries(view.tried.looks).map(([name, seen]) => html`<${Look} key=${name} name=${name} seen=${seen} heading="h3" />`)}</div></section>`;
}

let soon = 0; // refreshes that follow at once, because a message was asked for
const control = (body) => inTurn(async () => {
  Object.assign(state, await ask("/api/stream", body));
  soon = body.action === "step" ? 20 : soon;
  await refresh();
});
const play = () => control({ action: state.stream.playing ? "pause" : "play" });
const step = () => control({ action: "step" });

const RATES = { 1: "1", 5: "5", 50: "50", 1000: "1,000", 100000: "maximum" };

function Controls({ stream }) {
  const over = stream.ended || !!stream.error;
  return html`<button id="play" type="button" aria-keyshortcuts="p" disabled=${over} onClick=${play}>${stream.playing ? "Pause" : "Play"}</button>
    <button id="step" type="button" aria-keyshortcuts="n" disabled=${over} onClick=${step}>Next message</button>
    <label>Per second <${Select} id="rate" value=${`${stream.rate}`} options=${Object.entries(RATES)}
      change=${(rate) => control({ rate: Number(rate) })} /></label>`;
}

const progress = ({ error, ended, playing }) =>
  error ? `the stream stopped: ${error}` : ended ? "the stream has ended" : playing ? "playing" : "paused";

// --- the page ---------------------------------------------------------------------------------

const KEYS = [[["j", "k"], "next, previous message of the list"], [["1", "…", "9"], "label the message; where labelled messages leave the list, the next one follows"],
  [["l"], "find a label, or add one"], [["0"], "unlearn the message"], [["s"], "skip the question"], [["x"], "select the message"],
  [["a"], "select all that match"], [["u"], "undo"], [["r", "q", "w"], "views: Review, Quality, Words"], [["?"], "show these shortcuts"]];
const SEVERAL_KEYS = [[["1", "…", "9"], "pick a label of the message, or drop it"], [["g"], "give the picked labels"]];
const STREAM_KEYS = [[["p"], "play, pause"], [["n"], "next message of the stream"], [["/"], "try a message"]];

function shownReadiness({ readiness: { filter: readiness }, unsure }) {
  const labels = Object.entries(readiness.labels).map(([label, messages]) => `${label} ${number(messages)}`);
  const parts = [readiness.ready ? "The model is ready" : `The model is not ready: ${readiness.reason}`,
    `messages in the model: ${labels.join(", ") || "none"}`];
  if (unsure !== null) parts.push(`unsure: ${percent(unsure)} of the decisions`);
  return `${parts.join("; ")}.`;
}

const Review = () => html`<main class="review" id="main" tabindex="-1"><${List} />
  <section aria-labelledby="message-title" id="message" class="message" tabindex="-1">
    <h2 id="message-title">Message</h2><p class="note" role="status">${note}</p><div id="opened"><${Opened} /></div></section><${History} /></main>`;

const Words = () => html`<main class="words" id="main" tabindex="-1">${state.stream && html`<${TryOut} />`}<${Tokens} /></main>`;

function Page() {
  if (!state) return html`<p role="status">loading</p>`;
  const { stream } = state;
  const name = (event) => { annotator = event.target.value; localStorage.setItem("annotator", annotator); };
  const Shown = { review: Review, quality: Quality, words: Words }[view.view];
  return html`<header><h1>streamnb</h1>
    <nav aria-label="Views">${Object.entries(VIEWS).map(([each, text]) => html`<a href=${addressOf({ view: each })}
      aria-current=${each === view.view ? "page" : null}>${text}</a>`)}</nav>
    <p id="progress" role=${stream ? "status" : null}>${plural(state.messages, "message")}, ${stream ? progress(stream)
      : `${plural(state.waiting, "question")}, ${plural(state.unlearned, "label")} not learned yet`}</p>
    <div class="controls" role="group" aria-label="Controls">${stream && html`<${Controls} stream=${stream} />`}
      <label>Annotator <input id="annotator" value=${annotator} maxlength="100" size="7" onInput=${name} /></label>
      <button id="undo" type="button" aria-keyshortcuts="u" disabled=${!undos.length} onClick=${undo}>Undo</button>
      <button id="keys" type="button" aria-keyshortcuts="?" onClick=${showKeys}>Keys</button></div></header>
  ${state.readiness.filter && html`<p id="readiness" class="quiet" role="status">${shownReadiness(state)}</p>`}
  ${state.trouble && html`<p class="trouble" role="alert">The filter cannot be read: ${state.trouble}</p>`}
  <${Shown} /><${Keys} keys=${[...(state.several ? [...SEVERAL_KEYS, ...KEYS.filter(([names]) => names[0] !== "1")] : KEYS), ...(stream ? STREAM_KEYS : [])]} />`;
}

// At once: letters that are typed before the next frame belong to the field.
const focusOn = (id) => document.getElementById(id)?.focus();

onKeys((key) => {
  const views = { r: () => show("review"), q: () => show("quality"), w: () => show("words") };
  const ofStream = { p: play, n: step, "/": () => { show("words"); focusOn("draft"); } };
  const everywhere = { u: undo, "?": showKeys, ...views, ...(state?.stream && ofStream) };
  if (view.view !== "review" || !state) return everywhere[key];
  const ids = targets();
  if (ids.length && /^[0-9]$/.test(key)) {
    if (key === "0") return () => correct(ids, null);
    const label = offered()[Number(key) - 1];
    return label !== undefined && (() => give(label));
  }
  if (key === "g" && state.several && ids.length) return givePicked;
  const one = current();
  return { ...everywhere, j: () => move(1), k: () => move(-1), l: () => focusOn("find-label"), a: selectAll,
    x: chosen !== null && (() => select(chosen)), s: one?.waits && (() => skip(one)) }[key];
});

window.addEventListener("popstate", () => {
  readAddress();
  draw();
  if (state) page.attempt(() => list(true));
});
readAddress();
page.live(async () => {
  await refresh();
  soon = Math.max(0, soon - 1);
  return soon ? 100 : state.stream && !state.stream.playing ? 2000 : 500;
});
