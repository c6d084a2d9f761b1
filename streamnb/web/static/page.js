// The page: messages are listed, opened, labelled and, with models in this process, tried out.

import { Keys, Labels, Select, Table, ask, html, makePage, narrow, number, onKeys, percent, showKeys, signed } from "./common.js";
import { Curves, Reliability } from "./charts.js";

const UNDOS = 100;
const UNSURE = "unsure"; // decision of a filter that has too little evidence
const page = makePage(Page);
const { draw, inTurn } = page;
let state = null;
let messages = []; // the listed ones
let chosen = null; // id of the message that keys act on
let opened = null; // its whole text, its reasons and similar messages, once they have arrived
let corrections = [];
let undos = []; // pairs of a function that takes an action back and its text
let note = null;
let annotator = null;
let held = false; // while the pointer is on the list, its messages stay where they are
let newer = 0; // messages that the list does not show yet
const view = {
  kind: null, text: "", sender: "", label: "", low: "0", high: "100", // conditions on the listed messages
  draft: "", tried: null, tokens: null, cut: 50, cost: 1, positive: null,
};

const set = (name) => (event) => { view[name] = event.target.value; draw(); };

// --- requests ---------------------------------------------------------------------------------

async function refresh(force = false) {
  const query = view.positive === null ? "" : `?pos_label=${encodeURIComponent(view.positive)}`;
  const found = await ask(`/api/state${query}`);
  // A server that was started again has other messages and another token.
  if (state && found.run !== state.run) { location.reload(); return; }
  const changed = force || found.revision !== state?.revision;
  state = found;
  annotator ??= localStorage.getItem("annotator") ?? state.annotator;
  view.kind ??= state.stream ? "" : "questions";
  if (changed) await list();
}

let asked = 0; // requests for the list
async function list() {
  const { kind, text, sender, label, low, high } = view;
  const bounds = { low: Number(low) / 100 || 0, high: high === "" ? 1 : Number(high) / 100 };
  const turn = ++asked;
  const found = await ask(`/api/messages?${new URLSearchParams({ kind, text, sender, label, ...bounds, id: chosen ?? "" })}`);
  if (turn !== asked) return; // another search has begun
  const known = new Map(found.messages.map((one) => [one.id, one]));
  const top = Math.max(0, ...messages.map((one) => one.number));
  newer = held ? found.messages.filter((one) => one.number > top).length : 0;
  messages = held ? messages.map((one) => known.get(one.id) ?? one) : found.messages;
  corrections = found.corrections;
  // The answer may come after another message was chosen, and after the filter has dropped the message.
  if (opened?.id === chosen && found.revision !== null && found.revision !== opened?.revision) await load(chosen);
  else if (chosen === null && kind === "questions" && messages.length) choose(messages[0].id, false);
}

async function load(id) {
  const found = await ask(`/api/message?id=${encodeURIComponent(id)}`);
  if (id === chosen) opened = found;
}

function choose(id, show = true) {
  chosen = id;
  if (show) note = null;
  history.replaceState(null, "", id === null ? "#" : `#${encodeURIComponent(id)}`);
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

// The next question is shown at once; the answers of the filter follow.
function leave(id) {
  if (view.kind !== "questions") return;
  const place = messages.findIndex((one) => one.id === id);
  messages = messages.filter((one) => one.id !== id);
  if (chosen === id && place >= 0) choose(messages[Math.min(place, messages.length - 1)]?.id ?? null, false);
}

const send = (ids, label) => ask("/api/labels", { ids, label, annotator });

function act(work, done, undone, undo) {
  inTurn(async () => {
    await work();
    note = done;
    undos = [...undos.slice(-UNDOS + 1), [undone, undo]];
    await refresh(true);
  });
}

// The messages are those at the time of the key or click, whatever has arrived meanwhile.
function correct(ones, label) {
  const before = ones.map((one) => [one.id, one.sent ? one.sent.label : one.label]);
  const text = ones.length > 1 ? `${ones.length} messages` : `Message ${ones[0].id}`;
  const done = state.stream ? (label ? `learned as ${label}` : "unlearned") : `${label || "unlearn"} was sent`;
  leave(ones[0].id);
  act(() => send(ones.map((one) => one.id), label), `${text}: ${done}`, `${text}: taken back`,
    async () => { for (const [id, old] of before) await send([id], old ?? ""); });
}

function skip({ id }) {
  const mark = (skipped) => () => ask("/api/skip", { id, skipped });
  leave(id);
  act(mark(true), `Message ${id} was skipped`, `Message ${id} is asked again`, mark(false));
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

// --- the list ---------------------------------------------------------------------------------

function status(one) {
  if (one.sent) return html`<bdi>${one.sent.label ?? "unlearn"}</bdi>, sent`;
  const known = one.label === null ? "no label" : html`<bdi>${one.label}</bdi>`;
  return html`${known}${one.label !== one.given && `, ${one.given === null ? "learned" : "corrected"}`}`;
}

const decided = ({ label, likeliest, probability }) => label === null ? "no answer"
  : html`<bdi>${label}</bdi>${label === likeliest ? "" : html` (<bdi>${likeliest}</bdi>)`} ${percent(probability, 0)}`;

function Answers({ one }) {
  const names = Object.keys(one.answers);
  if (!names.length) return "no decision yet";
  return names.map((name, place) => {
    const answer = one.answers[name];
    const wrong = one.label !== null && ![null, UNSURE, one.label].includes(answer.label);
    return html`<span class=${wrong ? "answer wrong" : "answer"}>${names.length > 1 && `${name}: `}${decided(answer)}${wrong && " ✗"}</span>${place < names.length - 1 && " "}`;
  });
}

function Entry({ one }) {
  return html`<li><button type="button" data-id=${one.id} aria-current=${one.id === chosen ? "true" : null} onClick=${() => choose(one.id)}>
    <span class="number">${one.number}</span><bdi class="text">${one.subject || one.text}</bdi>
    <span class="answers"><${Answers} one=${one} /><bdi>${one.sender}</bdi><span class="truth">${status(one)}</span></span></button></li>`;
}

function List() {
  const pick = (name) => (value) => { view[name] = value; page.attempt(list); };
  const field = (name, text, type = "search") => html`<label>${text} <input type=${type} id=${name} value=${view[name]} min="0" max="100"
    onInput=${(event) => pick(name)(event.target.value)} /></label>`;
  const isQueue = view.kind === "questions";
  const kinds = [["", "all messages"], ["wrong", "wrong decisions"], ["unlabelled", "without a label"]];
  if (!state.stream) kinds.unshift(["questions", `questions (${state.waiting})`]);
  if (Object.keys(state.models).length > 1) kinds.push(["disputed", "models disagree"]);
  const decisions = state.unsure ? [...state.labels, UNSURE] : state.labels;
  return html`<section aria-labelledby="list-title" class="stream"><h2 id="list-title">Messages</h2>
    <label>Show <${Select} id="kind" value=${view.kind} change=${pick("kind")} options=${kinds} /></label>
    ${!isQueue && html`<div class="search" role="search" aria-label="Messages">
      ${field("text", "Text")}${!state.stream && field("sender", "Sender")}
      <label>Decision <${Select} id="label" value=${view.label} change=${pick("label")}
        options=${[["", "any"], ...decisions.map((label) => [label, label])]} /></label>
      ${field("low", "Probability from %", "number")}${field("high", "to %", "number")}</div>
    <p class="quiet newer" aria-hidden="true">${newer > 0 ? `${number(newer)} newer, shown when the pointer leaves the list` : " "}</p>`}
    <ol id="messages" aria-label=${isQueue ? "Questions, oldest first" : "Messages, newest first"}
      onMouseEnter=${() => hold(true)} onMouseLeave=${() => hold(false)}>
      ${messages.map((one) => html`<${Entry} key=${one.id} one=${one} />`)}</ol>
    ${!messages.length && html`<p id="none" class="quiet">${isQueue ? "No label is requested." : state.messages ? "No message matches."
      : "No messages yet."}</p>`}</section>`;
}

// --- quality ------------------------------------------------------------------------------------

function Confusion({ name, one }) {
  const { labels } = state;
  if (!one.confusion.length) return html`<p class="quiet">No decisions yet.</p>`;
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

function Quality() {
  const table = Object.entries(state.models).map(([name, one]) =>
    [name, percent(one.accuracy, 2), percent(one.recent, 2), number(one.messages), ...(state.words ? [number(state.words[name])] : [])]);
  return html`<section aria-labelledby="well-title" class="well"><h2 id="well-title">Quality</h2>
    <div id="figures"><${Table} caption="Decisions on labelled messages" rows=${table}
      head=${["model", "accuracy", "last 500", "messages", ...(state.words ? ["words"] : [])]} /></div>
    <h3>Accuracy over the last 500 messages</h3><div id="curve"><${Curves} models=${state.models} /></div>
    <h3>Calibration</h3><div id="reliability"><${Reliability} models=${state.models} /></div></section>`;
}

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

function Arrival({ name, then, now }) {
  const tokens = ({ label }, found) => found.length
    ? `for ${label}: ${found.slice(0, 5).map(([token, adds]) => `${token} ${signed(adds)}`).join(", ")}` : "–";
  const decision = ({ label, probabilities }) => label === null ? "no answer" : `${label} ${percent(probabilities[label])}`;
  const score = now.tokens.map(({ token, adds }) => [token, adds]);
  return html`<${Table} caption="Before it was learned, and now" head=${[name, "at arrival", "now"]} rows=${[
    ["decision", decision(then), decision(now)],
    ["strongest tokens", tokens(then, then.tokens), tokens(now, score)]]} />`;
}

function Look({ name, seen, then, heading = "h4" }) {
  if (!seen.against) {
    return html`<div class="look"><${heading}>${name}<//><p class="quiet">${seen.label === null
      ? "The model has not learned a message yet." : `The model has learned only ${seen.label} so far.`}</p></div>`;
  }
  const decision = html`<${heading}>${name}: <strong class="decision">${seen.label}</strong><//>
    <p class="shares">${shares(seen.probabilities).map(([label, share], place) => html`${place ? ", " : ""}<bdi>${label}</bdi> ${percent(share)}`)}</p>`;
  const arrival = then && html`<${Arrival} name=${name} then=${then} now=${seen} />`;
  if (seen.lead === null) {
    return html`<div class="look">${decision}<p class="quiet hidden">The message has ${number(seen.hidden)} characters: too many to explain.</p>${arrival}</div>`;
  }
  const largest = Math.max(0.05, ...seen.pieces.map((piece) => Math.abs(piece.adds)));
  const words = seen.pieces.flatMap(({ text, adds }) => {
    const level = Math.round(Math.abs(adds) / largest * 4);
    return [html`<mark class=${level ? `${adds > 0 ? "for" : "against"}-${level}` : "flat"} title=${`${signed(adds)} for ${seen.label}`}>${text}</mark>`, " "];
  });
  const without = seen.without.flatMap((piece, place) =>
    [place ? (place === seen.without.length - 1 ? " and " : ", ") : "", html`<em>${piece}</em>`]);
  const tokens = seen.tokens.map((one) =>
    [one.token, signed(one.adds), signed(one.adds - one.correction), signed(one.correction)]);
  return html`<div class="look">${decision}
    <p class="coloured" dir="auto" tabindex="0" role="group" aria-label=${`Words for ${name}`}>${words}</p>
    ${seen.hidden > 0 && html`<p class="quiet hidden">${number(seen.hidden)} more characters are not shown; the decision used them.</p>`}
    ${seen.without.length > 0 && html`<p class="without">Without ${without}${Object.keys(seen.probabilities).length === 2
      ? ` it would be ${seen.against}.` : ` it would not be ${seen.label}.`}</p>`}
    <p class="quiet">The score for ${seen.label} against ${seen.against} is ${signed(seen.lead)}: the prior contributes ${signed(seen.prior)}, the
      words ${signed(seen.lead - seen.prior - seen.rest)}, the length and other tokens ${signed(seen.rest)}.</p>
    ${arrival}
    <details><summary>Contribution of each token</summary><${Table} caption=${`For ${seen.label} against ${seen.against}`}
      head=${["token", "total", "counts", "corrections"]} rows=${tokens} /></details></div>`;
}

// The decision of a filter: its models are elsewhere, and a decision names words only if the filter explains it.
function Decision({ one, answer }) {
  return html`<p class="body" dir="auto" tabindex="0" role="region" aria-label="Text">${one.text}</p>
    ${one.cut && html`<p class="quiet">Only the beginning of the message is shown.</p>`}
    ${answer?.tokens.length > 0 && html`<${Table} caption="Top contributing tokens" head=${["token", "contribution"]}
      rows=${answer.tokens.map(([token, adds]) => [token, signed(adds)])} />`}`;
}

function Similar({ one, like }) {
  const near = like.filter((other) => other.near);
  return html`<h4>Similar messages</h4>
    ${near.length > 0 && html`<div class="labels" role="group" aria-label="Label all">${state.labels.map((label) => html`<button type="button" key=${label}
      onClick=${() => correct([one, ...near], label)}>all ${near.length + 1} are <bdi>${label}</bdi></button>`)}</div>`}
    ${like.length ? html`<ul class="like">${like.map((other) => html`<li key=${other.id}><button type="button" onClick=${() => choose(other.id)}>
      <bdi>${(other.subject || other.text).slice(0, 120)}</bdi>${" "}(${status(other)}, ${percent(other.likeness, 0)} similar)</button></li>`)}</ul>`
    : html`<p class="quiet">No similar message is stored.</p>`}`;
}

// The chosen message: from the list while its details are on the way.
const current = () => opened?.id === chosen ? opened : messages.find((one) => one.id === chosen);

function Opened() {
  const one = current();
  if (!one) return html`<p class="quiet">Choose a message to see the reasons of its decision and to label it.</p>`;
  const details = one === opened ? opened : null;
  const facts = [["From", one.sender], ["Subject", one.subject], ["Date", one.date || (one.time && new Date(one.time).toISOString())]];
  const listed = details?.arrival.filter?.listed;
  return html`<h3>Message <bdi>${one.id}</bdi></h3>
    <${Labels} labels=${state.labels} label=${one.sent ? one.sent.label : one.label} choose=${(label) => correct([one], label)}>
      <button type="button" aria-keyshortcuts="0" onClick=${() => correct([one], "")}>unlearn <kbd aria-hidden="true">0</kbd></button>
      ${one.waits && html`<button type="button" aria-keyshortcuts="s" onClick=${() => skip(one)}>skip <kbd aria-hidden="true">s</kbd></button>`}</${Labels}>
    <p class="quiet">Decision: <${Answers} one=${one} />${listed && `, by the list of senders (${listed})`}; ${status(one)}.
      ${" "}<a href=${`#${encodeURIComponent(one.id)}`}>Link to this message</a></p>
    <dl class="mail">${facts.filter(([, value]) => value).map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
    ${details?.looks ? Object.entries(details.looks).map(([name, seen]) =>
      html`<${Look} key=${name} name=${name} seen=${seen} then=${details.arrival[name]} />`)
    : html`<${Decision} one=${one} answer=${details?.arrival.filter} />`}
    ${details && html`<${Similar} one=${one} like=${details.like} />`}`;
}

function History() {
  const rows = corrections.map((one) => [one.time ? new Date(one.time).toISOString().slice(0, 19).replace("T", " ") : "–", one.text || one.id,
    one.label ?? "unlearn", [one.annotator, one.source].filter(Boolean).join(", ") || "–", one.status]);
  return html`<section aria-labelledby="history-title" id="history"><h2 id="history-title">Corrections</h2>
    <p><a href="/api/history.jsonl" download="corrections.jsonl">Export as JSON lines</a></p>
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
    <label>Messages per second <${Select} id="rate" value=${`${stream.rate}`} options=${Object.entries(RATES)}
      change=${(rate) => control({ rate: Number(rate) })} /></label>`;
}

const progress = ({ error, ended, playing }) =>
  error ? `the stream stopped: ${error}` : ended ? "the stream has ended" : playing ? "playing" : "paused";

// --- the page ---------------------------------------------------------------------------------

const KEYS = [[["j", "k"], "next, previous message of the list"], [["1", "…", "9"], "label the message; a question is followed by the next one"],
  [["0"], "unlearn the message"], [["s"], "skip the question"], [["u"], "undo"], [["?"], "show these shortcuts"]];
const STREAM_KEYS = [[["p"], "play, pause"], [["n"], "next message of the stream"], [["/"], "try a message"]];

function shownReadiness({ readiness, unsure }) {
  const labels = Object.entries(readiness.labels).map(([label, messages]) => `${label} ${number(messages)}`);
  const parts = [readiness.ready ? "The model is ready" : `The model is not ready: ${readiness.reason}`,
    `messages in the model: ${labels.join(", ") || "none"}`];
  if (unsure !== null) parts.push(`unsure: ${percent(unsure)} of the decisions`);
  return `${parts.join("; ")}.`;
}

function Page() {
  if (!state) return html`<p role="status">loading</p>`;
  const { stream } = state;
  const name = (event) => { annotator = event.target.value; localStorage.setItem("annotator", annotator); };
  return html`<header><h1>streamnb</h1>
    <p id="progress" role=${stream ? "status" : null}>${number(state.messages)} messages, ${stream ? progress(stream)
      : `${number(state.waiting)} questions, ${number(state.unlearned)} labels not learned yet`}</p>
    <div class="controls" role="group" aria-label="Controls">${stream && html`<${Controls} stream=${stream} />`}
      <label>Annotator <input id="annotator" value=${annotator} maxlength="100" size="12" onInput=${name} /></label>
      <button id="undo" type="button" aria-keyshortcuts="u" disabled=${!undos.length} onClick=${undo}>Undo</button>
      <button id="keys" type="button" aria-keyshortcuts="?" onClick=${showKeys}>Keys</button></div></header>
  ${state.readiness && html`<p id="readiness" class="quiet" role="status">${shownReadiness(state)}</p>`}
  ${state.trouble && html`<p class="trouble" role="alert">The filter cannot be read: ${state.trouble}</p>`}
  <main><div class="column"><${List} /><${Quality} /><${Tokens} /></div>
    <div class="column"><section aria-labelledby="message-title" id="message" class="message" tabindex="-1">
      <h2 id="message-title">Message</h2><p class="note" role="status">${note}</p><div id="opened"><${Opened} /></div></section>
      ${stream && html`<${TryOut} />`}<${History} /><${Threshold} />
      <section aria-labelledby="confusion-title" class="confusion"><h2 id="confusion-title">Confusion matrix</h2><div id="confusion" class="tables">
        ${Object.entries(state.models).map(([name, one]) => html`<${Confusion} name=${name} one=${one} />`)}</div></section></div></main>
  <${Keys} keys=${stream ? [...KEYS, ...STREAM_KEYS] : KEYS} />`;
}

onKeys((key) => {
  const one = current();
  if (one && /^[0-9]$/.test(key)) {
    const label = key === "0" ? "" : state.labels[Number(key) - 1];
    return label !== undefined && (() => correct([one], label));
  }
  const ofStream = { p: play, n: step, "/": () => document.getElementById("draft").focus() };
  return { j: () => move(1), k: () => move(-1), u: undo, s: one?.waits && (() => skip(one)), "?": showKeys, ...(state?.stream && ofStream) }[key];
});

const fromAddress = () => {
  const id = decodeURIComponent(location.hash.slice(1));
  if (id && id !== chosen) choose(id);
};
window.addEventListener("hashchange", fromAddress);
fromAddress();
page.live(async () => {
  await refresh();
  soon = Math.max(0, soon - 1);
  return soon ? 100 : state.stream && !state.stream.playing ? 2000 : 500;
});
