// The page: what comes is listed, a message is opened, corrected, and tried out.

import { ask, make, percent, signed, table } from "./dom.js";
import { curves, reliability } from "./charts.js";

const at = (id) => document.getElementById(id);
const listed = new Map(); // messages by number
let state = null;
let chosen = null;

function trouble(error) {
  at("trouble").hidden = !error;
  at("trouble").textContent = error ? `Error: ${error.message}` : "";
}

async function doing(work) {
  try {
    await work();
    trouble(null);
  } catch (error) {
    trouble(error);
  }
}

// --- the stream -------------------------------------------------------------------------------

const isWrong = (one) => one.label !== null && Object.values(one.answers).some((a) => a.label !== null && a.label !== one.label);
const isDisputed = (one) => new Set(Object.values(one.answers).map((a) => a.label)).size > 1;
const SHOWN = { all: () => true, wrong: isWrong, disputed: isDisputed, unlabelled: (one) => one.label === null };

function decided(one) {
  return Object.entries(one.answers).map(([name, answer]) => {
    const wrong = one.label !== null && answer.label !== null && answer.label !== one.label;
    const said = answer.label === null ? "no answer" : `${answer.label} ${percent(answer.probability, 0)}`;
    const who = Object.keys(one.answers).length > 1 ? `${name}: ` : "";
    return make("span", { class: wrong ? "answer wrong" : "answer" }, who, said, wrong ? " ✗" : "");
  });
}

function entry(one) {
  const truth = one.label === null ? "no label" : one.corrected ? `${one.label}, corrected` : one.label;
  return make("li", {}, make("button", {
    type: "button", "data-number": one.number, "aria-current": one.number === chosen ? "true" : null,
    onclick: () => open(one.number),
  }, make("span", { class: "number" }, `${one.number}`), make("span", { class: "text" }, one.text),
  make("span", { class: "said" }, ...decided(one), make("span", { class: "truth" }, truth))));
}

function list() {
  const shown = [...listed.values()].filter(SHOWN[at("show").value]).slice(-200).reverse();
  const focused = document.activeElement?.dataset?.number;
  at("messages").replaceChildren(...shown.map(entry));
  at("none").hidden = shown.length > 0;
  if (listed.size && !shown.length) at("none").textContent = "No stored message matches the filter.";
  if (focused) at("messages").querySelector(`[data-number="${focused}"]`)?.focus({ preventScroll: true });
}

async function refresh() {
  state = await ask("/api/state");
  const last = Math.max(0, ...listed.keys());
  if (state.messages > last) {
    const { messages } = await ask(`/api/messages?after=${last}`);
    for (const one of messages) listed.set(one.number, one);
    for (const number of listed.keys()) if (number < state.kept_from) listed.delete(number);
    list();
  }
  figures();
}

function figures() {
  const what = state.ended ? "the stream has ended" : state.playing ? "playing" : "paused";
  at("progress").textContent = `${state.messages.toLocaleString("en")} messages, ${what}`;
  at("play").textContent = state.playing ? "Pause" : "Play";
  at("play").disabled = at("step").disabled = state.ended;
  at("figures").replaceChildren(table("Models", ["model", "accuracy", "last 500", "words"],
    Object.entries(state.models).map(([name, one]) =>
      [name, percent(one.accuracy, 2), percent(one.recent, 2), one.words.toLocaleString("en")])));
  at("curve").replaceChildren(curves(state.models));
  at("reliability").replaceChildren(reliability(state.models));
  at("confusion").replaceChildren(...Object.entries(state.models).map(([name, one]) => confusion(name, one)));
  thresholds();
}

function confusion(name, one) {
  const labels = state.labels;
  if (!one.confusion.length) return make("p", { class: "quiet" }, "No decisions yet.");
  if (labels.length > 8) {
    const mistakes = one.confusion.filter((pair) => pair.label !== pair.decision).slice(0, 20);
    return table(`${name}: most frequent errors`, ["label", "decision", "messages"],
      mistakes.map((pair) => [pair.label, pair.decision, pair.messages.toLocaleString("en")]));
  }
  const number = (label, decision) =>
    one.confusion.find((pair) => pair.label === label && pair.decision === decision)?.messages ?? 0;
  return table(`${name}`, ["label", ...labels.map((label) => `decided ${label}`)],
    labels.map((label) => [label, ...labels.map((decision) => number(label, decision).toLocaleString("en"))]));
}

function thresholds() {
  at("cut-section").hidden = state.pos_label === null;
  if (state.pos_label === null) return;
  const cost = Math.max(1, Number(at("cost").value) || 1);
  const cut = Number(at("cut").value) / 100;
  at("cut-positive").textContent = state.pos_label;
  at("cut-value").textContent = cut.toFixed(2);
  const other = state.labels.find((label) => label !== state.pos_label);
  const rows = Object.entries(state.models).flatMap(([name, { cuts }]) => {
    if (!cuts.length) return [];
    const whole = (one) => cost * one.lost + one.missed;
    const here = cuts.reduce((a, b) => Math.abs(b.cut - cut) < Math.abs(a.cut - cut) ? b : a);
    const best = cuts.reduce((a, b) => whole(b) < whole(a) ? b : a);
    return [[name, `${here.lost}`, `${here.missed}`, `${whole(here)}`, `${best.cut.toFixed(2)} costs ${whole(best)}`]];
  });
  at("costs").replaceChildren(table("Errors in the last 5,000 messages",
    ["model", `${other} decided ${state.pos_label}`, `${state.pos_label} decided ${other}`, "cost", "cheapest"], rows));
}

// --- a message --------------------------------------------------------------------------------

function looked(name, seen, heading = "h4") {
  if (seen.against === null) {
    return make("div", {}, make(heading, {}, name), make("p", { class: "quiet" },
      seen.label === null ? "The model has not learned a message yet." : `The model has learned only ${seen.label} so far.`));
  }
  const largest = Math.max(0.05, ...seen.pieces.map((piece) => Math.abs(piece.adds ?? 0)));
  const words = seen.pieces.flatMap((piece) => {
    const adds = piece.adds ?? 0;
    const level = Math.round(Math.abs(adds) / largest * 4);
    const mark = make("mark", {
      class: level ? `${adds > 0 ? "for" : "against"}-${level}` : "flat",
      title: `${signed(adds)} for ${seen.label}`,
    }, piece.text);
    return [mark, " "];
  });
  const shares = Object.entries(seen.probabilities).sort((a, b) => b[1] - a[1]).slice(0, 6)
    .map(([label, share]) => `${label} ${percent(share)}`).join(", ");
  const without = seen.without.length === 0 ? null : make("p", { class: "without" }, "Without ",
    ...seen.without.flatMap((piece, place) => [place ? (place === seen.without.length - 1 ? " and " : ", ") : "", make("em", {}, piece)]),
    Object.keys(seen.probabilities).length === 2 ? ` it would be ${seen.against}.` : ` it would not be ${seen.label}.`);
  const rows = seen.tokens.map((one) =>
    [one.token, signed(one.adds), signed(one.adds - one.correction), signed(one.correction)]);
  return make("div", { class: "look" },
    make(heading, {}, `${name}: `, make("strong", { class: "decision" }, seen.label)),
    make("p", { class: "shares" }, shares),
    make("p", { class: "coloured" }, ...words), without,
    make("p", { class: "quiet" }, `The score for ${seen.label} against ${seen.against} is ${signed(seen.lead)}; `,
      `the prior contributes ${signed(seen.prior)}.`),
    make("details", {}, make("summary", {}, "Contribution of each token"),
      table(`For ${seen.label} against ${seen.against}`, ["token", "total", "counts", "corrections"], rows)));
}

function labels(one) {
  const choices = state.labels.map((label, place) => make("button", {
    type: "button", "aria-pressed": one.label === label ? "true" : "false",
    "aria-keyshortcuts": place < 9 ? `${place + 1}` : null, onclick: () => correct(one.number, label),
  }, label));
  const forget = make("button", { type: "button", "aria-keyshortcuts": "0", onclick: () => correct(one.number, "") }, "skip");
  return make("div", { class: "labels", role: "group", "aria-label": "Label" }, make("span", {}, "Label: "), ...choices, forget);
}

function shown(one, note) {
  const like = one.like.map((other) => make("li", {}, make("button", { type: "button", onclick: () => open(other.number) },
    `${other.text.slice(0, 120)} (${other.label ?? "no label"}, ${percent(other.likeness, 0)} similar)`)));
  at("opened").replaceChildren(
    make("h3", {}, `Message ${one.number}`),
    note ? make("p", { class: "note", role: "status" }, note) : "",
    labels(one),
    ...Object.entries(one.looks).map(([name, seen]) => looked(name, seen)),
    make("h4", {}, "Similar messages"),
    like.length ? make("ul", { class: "like" }, ...like) : make("p", { class: "quiet" }, "No similar message is stored."));
}

function open(number, note) {
  return doing(async () => {
    const one = await ask(`/api/messages/${number}`);
    chosen = number;
    shown(one, note);
    list();
  });
}

function correct(number, label) {
  return doing(async () => {
    const before = listed.get(number);
    const one = await ask(`/api/messages/${number}/label`, { label });
    listed.set(number, one);
    const changes = Object.entries(one.now).map(([name, now]) => {
      const share = label ? now.probabilities[label] : null;
      const old = before?.answers[name];
      return `${name} decided ${old?.label ?? "nothing"} before and decides ${now.label ?? "nothing"} now`
        + (share === null || share === undefined ? "" : `, ${label} ${percent(share)}`);
    });
    await refresh();
    await open(number, `${label ? `Learned as ${label}` : "Unlearned"}: ${changes.join("; ")}.`);
  });
}

function move(by) {
  const numbers = [...at("messages").querySelectorAll("button")].map((one) => Number(one.dataset.number));
  if (!numbers.length) return;
  const place = numbers.indexOf(chosen);
  const next = place < 0 ? 0 : Math.min(Math.max(place + by, 0), numbers.length - 1);
  open(numbers[next]);
}

// --- controls --------------------------------------------------------------------------

let asked = 0;
async function tryOut() {
  const turn = ++asked;
  const text = at("draft").value;
  if (!text.trim()) return at("tried").replaceChildren();
  const { looks } = await ask("/api/try", { text });
  // Ignore the answer to an older text.
  if (turn === asked) at("tried").replaceChildren(...Object.entries(looks).map(([name, seen]) => looked(name, seen, "h3")));
}

async function topWords() {
  const found = await ask("/api/words");
  at("words").replaceChildren(...Object.entries(found).flatMap(([name, classes]) =>
    Object.entries(classes).map(([label, words]) => table(`${name}: for ${label}`, ["token", "contribution"],
      words.map(([word, lead]) => [word, signed(lead)])))));
}

const stream = (body) => doing(async () => { state = await ask("/api/stream", body); await refresh(); });
const play = () => stream({ action: state?.playing ? "pause" : "play" });
const step = () => stream({ action: "step" });

at("play").addEventListener("click", play);
at("step").addEventListener("click", step);
at("rate").addEventListener("change", () => stream({ rate: Number(at("rate").value) }));
at("show").addEventListener("change", list);
at("draft").addEventListener("input", () => doing(tryOut));
at("words-load").addEventListener("click", () => doing(topWords));
at("cut").addEventListener("input", thresholds);
at("cost").addEventListener("input", thresholds);
at("keys").addEventListener("click", () => at("help").showModal());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
  if (event.target.closest("textarea, input, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const keys = { j: () => move(1), k: () => move(-1), p: play, n: step, "?": () => at("help").showModal(), "/": () => at("draft").focus() };
  if (/^[0-9]$/.test(event.key) && chosen !== null) {
    const label = event.key === "0" ? "" : state.labels[Number(event.key) - 1];
    if (label !== undefined) correct(chosen, label);
  } else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
});

async function live() {
  if (!document.hidden) await doing(refresh);
  setTimeout(live, state?.playing ? 500 : 2000);
}
live();
