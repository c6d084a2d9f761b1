// The page of a stream: messages are listed, opened, corrected and tried out.

import { Keys, Labels, Select, Table, ask, html, makePage, narrow, number, onKeys, percent, showKeys, signed } from "./common.js";
import { Curves, Reliability } from "./charts.js";

const LISTED = 200;
const rows = new Map(); // messages by number
const page = makePage(Page);
const { draw, inTurn } = page;
let state = null;
let chosen = null; // number of the message that keys act on
let opened = null; // its details, once they have arrived
let note = null;
let held = Infinity; // newest number in the list while the pointer is on it
const view = { show: "all", draft: "", tried: null, words: null, cut: 50, cost: 1, positive: null };

const set = (name) => (event) => { view[name] = event.target.value; draw(); };

// --- the stream -------------------------------------------------------------------------------

const isWrong = (one) => one.label !== null && Object.values(one.answers).some((a) => a.label !== null && a.label !== one.label);
const isDisputed = (one) => new Set(Object.values(one.answers).map((a) => a.label)).size > 1;
const FILTERS = {
  all: ["all messages", () => true], wrong: ["wrong decisions", isWrong], disputed: ["models disagree", isDisputed],
  unlabelled: ["without a label", (one) => one.label === null],
};

const listed = () => [...rows.values()].filter((one) => one.number <= held && FILTERS[view.show][1](one))
  .sort((a, b) => b.number - a.number).slice(0, LISTED);

function hold(on) {
  held = on ? Math.max(0, ...rows.keys()) : Infinity;
  draw();
}

function Entry({ one }) {
  const names = Object.keys(one.answers);
  const answers = names.map((name) => {
    const { label, probability } = one.answers[name];
    const wrong = one.label !== null && label !== null && label !== one.label;
    return html`<span class=${wrong ? "answer wrong" : "answer"}>${names.length > 1 && `${name}: `}
      ${label === null ? "no answer" : html`<bdi>${label}</bdi> ${percent(probability, 0)}`}${wrong && " ✗"}</span>`;
  });
  const truth = one.label === null ? "no label" : html`<bdi>${one.label}</bdi>${one.corrected && ", corrected"}`;
  return html`<li><button type="button" data-number=${one.number} aria-current=${one.number === chosen ? "true" : null}
    onClick=${() => choose(one.number)}><span class="number">${one.number}</span><bdi class="text">${one.text}</bdi>
    <span class="answers">${answers}<span class="truth">${truth}</span></span></button></li>`;
}

function Stream() {
  const shown = listed();
  const newer = held < Infinity ? Math.max(0, ...rows.keys()) - held : 0;
  return html`<section aria-labelledby="stream-title" class="stream"><h2 id="stream-title">Stream</h2>
    <label>Show <${Select} id="show" value=${view.show} change=${(value) => { view.show = value; draw(); }}
      options=${Object.entries(FILTERS).map(([name, [text]]) => [name, text])} /></label>
    <p class="quiet newer" aria-hidden="true">${newer > 0 ? `${number(newer)} newer, shown when the pointer leaves the list` : " "}</p>
    <ol id="messages" aria-label="Messages, newest first" onMouseEnter=${() => hold(true)} onMouseLeave=${() => hold(false)}>
      ${shown.map((one) => html`<${Entry} key=${one.number} one=${one} />`)}</ol>
    ${!shown.length && html`<p id="none" class="quiet">${rows.size ? "No stored message matches the filter."
      : "No messages yet. Press Play or Next message."}</p>`}</section>`;
}

async function refresh() {
  const query = view.positive === null ? "" : `?pos_label=${encodeURIComponent(view.positive)}`;
  const found = await ask(`/api/state${query}`);
  // A server that was started again has other messages and another token.
  if (state && found.run !== state.run) { location.reload(); return; }
  const known = state?.revision ?? 0;
  state = found;
  if (state.revision > known) await fetchRows(known);
}

async function fetchRows(after) {
  const { messages } = await ask(`/api/messages?after=${after}`);
  for (const one of messages) if (!(rows.get(one.number)?.revision > one.revision)) rows.set(one.number, one);
  for (const each of rows.keys()) if (each < state.kept_from) rows.delete(each);
  // Another tab may have corrected the open message.
  if (opened && rows.get(opened.number)?.revision > opened.revision) await load(opened.number);
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
    [name, percent(one.accuracy, 2), percent(one.recent, 2), number(one.words)]);
  return html`<section aria-labelledby="well-title" class="well"><h2 id="well-title">Quality</h2>
    <div id="figures"><${Table} caption="Models" head=${["model", "accuracy", "last 500", "words"]} rows=${table} /></div>
    <h3>Accuracy over the last 500 messages</h3><div id="curve"><${Curves} models=${state.models} /></div>
    <h3>Calibration</h3><div id="reliability"><${Reliability} models=${state.models} /></div></section>`;
}

function Words() {
  const load = () => inTurn(async () => { view.words = await ask("/api/words", {}); });
  const tables = Object.entries(view.words ?? {}).flatMap(([name, classes]) => Object.entries(classes).map(([label, words]) =>
    html`<${Table} caption=${`${name}: for ${label}`} head=${["token", "contribution"]}
      rows=${words.map(([word, lead]) => [word, signed(lead)])} />`));
  return html`<section aria-labelledby="words-title" class="words"><h2 id="words-title">Most informative tokens</h2>
    <button type="button" onClick=${load}>Show tokens of the last 200 messages</button>
    <div id="words" class="tables">${tables}</div></section>`;
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

function Opened() {
  const row = rows.get(chosen);
  if (!row) return html`<p class="quiet">Choose a message to see the reasons of its decision and to correct its label.</p>`;
  const details = opened?.number === chosen && html`
    ${Object.entries(opened.looks).map(([name, seen]) => html`<${Look} key=${name} name=${name} seen=${seen} then=${opened.arrival[name]} />`)}
    <h4>Similar messages</h4>${opened.like.length ? html`<ul class="like">${opened.like.map((other) => html`<li key=${other.number}>
      <button type="button" onClick=${() => choose(other.number)}><bdi>${other.text.slice(0, 120)}</bdi>${" "}
      (<bdi>${other.label ?? "no label"}</bdi>, ${percent(other.likeness, 0)} similar)</button></li>`)}</ul>`
    : html`<p class="quiet">No similar message is stored.</p>`}`;
  return html`<h3>Message ${chosen}</h3>
    <${Labels} labels=${state.labels} label=${row.label} choose=${(label) => correct(chosen, label)}>
      <button type="button" aria-keyshortcuts="0" onClick=${() => correct(chosen, "")}>skip <kbd aria-hidden="true">0</kbd></button></${Labels}>
    <p class="note" role="status">${note}</p>${details || html`<p class="quiet">loading</p>`}`;
}

async function load(wanted) {
  const found = await ask(`/api/messages/${wanted}`);
  if (wanted === chosen) opened = found;
}

function choose(wanted) {
  chosen = wanted;
  note = null;
  draw();
  if (narrow()) document.getElementById("message").scrollIntoView();
  inTurn(async () => { if (chosen === wanted) await load(wanted); });
}

// `wanted` is the message at the time of the key or click, whatever has arrived meanwhile.
function correct(wanted, label) {
  inTurn(async () => {
    const one = await ask(`/api/messages/${wanted}/label`, { label });
    const changes = Object.entries(one.now).map(([name, now]) => {
      const share = now.probabilities[label];
      return `${name} decided ${one.answers[name].label ?? "nothing"} at arrival and decides ${now.label ?? "nothing"} now`
        + (share === undefined ? "" : `, ${label} ${percent(share)}`);
    });
    if (wanted === chosen) note = `${label ? `Learned as ${label}` : "Unlearned"}: ${changes.join("; ")}.`;
    await refresh();
  });
}

function move(by) {
  const numbers = listed().map((one) => one.number);
  if (!numbers.length) return;
  const place = numbers.indexOf(chosen);
  choose(numbers[place < 0 ? 0 : Math.min(Math.max(place + by, 0), numbers.length - 1)]);
  document.querySelector("#messages [aria-current]")?.scrollIntoView({ block: "nearest" });
}

// --- controls ---------------------------------------------------------------------------------

let asked = 0;
function tryOut(event) {
  const turn = ++asked;
  view.draft = event.target.value;
  page.attempt(async () => {
    const found = view.draft.trim() ? await ask("/api/try", { text: view.draft }) : null;
    if (turn === asked) view.tried = found; // else it answers an older text
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
const play = () => control({ action: state?.playing ? "pause" : "play" });
const step = () => control({ action: "step" });

const RATES = { 1: "1", 5: "5", 50: "50", 1000: "1,000", 100000: "maximum" };
const KEYS = [[["j", "k"], "older, newer message"], [["1", "…", "9"], "learn the message with this label"], [["0"], "skip: unlearn the message"],
  [["p"], "play, pause"], [["n"], "next message"], [["/"], "try a message"], [["?"], "show these shortcuts"]];

function Page() {
  if (!state) return html`<p role="status">loading</p>`;
  const mode = state.error ? `the stream stopped: ${state.error}` : state.ended ? "the stream has ended" : state.playing ? "playing" : "paused";
  const ended = state.ended || !!state.error;
  return html`<header><h1>streamnb</h1><p id="progress" role="status">${number(state.messages)} messages, ${mode}</p>
    <div class="controls" role="group" aria-label="Stream">
      <button id="play" type="button" aria-keyshortcuts="p" disabled=${ended} onClick=${play}>${state.playing ? "Pause" : "Play"}</button>
      <button id="step" type="button" aria-keyshortcuts="n" disabled=${ended} onClick=${step}>Next message</button>
      <label>Messages per second <${Select} id="rate" value=${`${state.rate}`} options=${Object.entries(RATES)}
        change=${(rate) => control({ rate: Number(rate) })} /></label>
      <button id="keys" type="button" aria-keyshortcuts="?" onClick=${showKeys}>Keys</button></div></header>
  <main><div class="column"><${Stream} /><${Quality} /><${Words} /></div>
    <div class="column"><section aria-labelledby="message-title" id="message" class="message" tabindex="-1">
      <h2 id="message-title">Message</h2><div id="opened"><${Opened} /></div></section>
      <${TryOut} /><${Threshold} />
      <section aria-labelledby="confusion-title" class="confusion"><h2 id="confusion-title">Confusion matrix</h2><div id="confusion" class="tables">
        ${Object.entries(state.models).map(([name, one]) => html`<${Confusion} name=${name} one=${one} />`)}</div></section></div></main>
  <${Keys} keys=${KEYS} />`;
}

onKeys((key) => {
  if (/^[0-9]$/.test(key) && chosen !== null) {
    const label = key === "0" ? "" : state.labels[Number(key) - 1];
    return label !== undefined && (() => correct(chosen, label));
  }
  return { j: () => move(1), k: () => move(-1), p: play, n: step, "?": showKeys, "/": () => document.getElementById("draft").focus() }[key];
});

page.live(async () => {
  await refresh();
  soon = Math.max(0, soon - 1);
  return soon ? 100 : state.playing ? 500 : 2000;
});
