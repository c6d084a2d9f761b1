// Parts of the page: requests, one after another, and small components. Preact writes texts as text.

import { html, render, useEffect, useRef, useState } from "/static/vendor/preact-htm.js";

export { html, useEffect, useRef };

const csrf = document.querySelector("meta[name=csrf]").content;

export async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-StreamNB-CSRF": csrf },
    body: JSON.stringify(body),
  };
  const answer = await fetch(path, options);
  const isJson = (answer.headers.get("Content-Type") || "").startsWith("application/json");
  const content = isJson ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw new Error(content.error || `the server answers ${answer.status}`);
  return content;
}

// The page is drawn from its state as a whole; preact changes what differs.
export function makePage(Page) {
  const troubles = {}; // of the last action of the user, and of the last reading
  let last = Promise.resolve();
  const draw = () => render(html`${Object.entries(troubles).map(([of, text]) =>
    html`<p key=${of} id=${of} role="alert">Error: ${text}</p>`)}<${Page} />`, document.getElementById("page"));
  const attempt = async (work, of = "trouble-reading") => {
    try {
      await work();
      delete troubles[of];
    } catch (error) {
      troubles[of] = error.message;
    }
    draw();
  };
  return {
    draw,
    attempt,
    // Actions of the user run in their order, each after the answer to the one before.
    inTurn: (work) => (last = last.then(() => attempt(work, "trouble"))),
    // Repeats `work`; it returns the milliseconds until the next time.
    live: async (work) => {
      for (let wait = 0; ; ) {
        if (!document.hidden) await attempt(async () => { wait = await work(); });
        await new Promise((done) => setTimeout(done, wait || 2000));
      }
    },
  };
}

export const percent = (share, digits = 1) =>
  share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`;
export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
export const number = (value) => value.toLocaleString("en");
export const plural = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
// A label, or several labels of one message, as text.
export const named = (label) => Array.isArray(label) ? label.join(", ") || "without labels" : label;
export const narrow = () => window.matchMedia("(max-width: 800px)").matches;

export function Table({ caption, head, rows }) {
  return html`<table><caption>${caption}</caption>
    <thead><tr>${head.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, place) =>
      place ? html`<td>${cell}</td>` : html`<th scope="row">${cell}</th>`)}</tr>`)}</tbody></table>`;
}

// A choice among pairs of value and text.
export const Select = ({ id, value, options, change }) => html`<select id=${id} onChange=${(event) => change(event.target.value)}>
  ${options.map(([each, text]) => html`<option value=${each} selected=${each === value}>${text}</option>`)}</select>`;

// Buttons for the labels, and a field that finds a label, or adds one. `choose` gets the label; `pressed` are those of the message.
const KEYED = 9; // labels with a key of their own; more labels are found by their text
export function Labels({ labels, pressed, choose, adds, children }) {
  const [text, setText] = useState("");
  const isLong = labels.length > KEYED;
  const asked = text.trim().toLowerCase();
  const found = isLong && asked ? labels.filter((each) => each.toLowerCase().includes(asked)) : labels;
  // An equal label comes first, then those that begin with the text.
  const rank = (each) => (each.toLowerCase() === asked ? 0 : each.toLowerCase().startsWith(asked) ? 1 : 2);
  const first = isLong && asked ? [...found].sort((a, b) => rank(a) - rank(b))[0] : undefined;
  const pick = (each) => { setText(""); choose(each); };
  const submit = (event) => {
    event.preventDefault();
    const typed = text.trim();
    if (!typed || (first === undefined && !adds)) return;
    if (isLong) document.activeElement.blur();
    pick(first ?? typed);
  };
  return html`<div class="labels" role="group" aria-label="Label">
    ${(isLong || adds) && html`<form onSubmit=${submit}><input name="label" id="find-label" value=${text} autocomplete="off"
      aria-label=${isLong ? "Find a label" : "New label"} placeholder=${isLong ? "find a label" : "new label"} maxlength="100" size="14"
      aria-keyshortcuts="l" onInput=${(event) => setText(event.target.value)} />
      <button>${isLong && first !== undefined ? "Choose" : "Add"}</button></form>`}
    ${children}
    <div class=${isLong ? "many" : "few"}>${found.map((each) => {
      const key = labels.indexOf(each) + 1;
      return html`<button type="button" key=${each} aria-pressed=${`${pressed.includes(each)}`} class=${each === first ? "first" : null}
        aria-keyshortcuts=${key <= KEYED ? `${key}` : null} onClick=${() => pick(each)}>
        <bdi>${each}</bdi>${key <= KEYED && html` <kbd aria-hidden="true">${key}</kbd>`}</button>`;
    })}</div></div>`;
}

// Single keys can be switched off: they disturb voice input (WCAG 2.1.4).
const keysOff = () => localStorage.getItem("single-keys") === "off";
const switchKeys = (event) => localStorage.setItem("single-keys", event.target.checked ? "on" : "off");

export function Keys({ keys }) {
  return html`<dialog id="help" aria-labelledby="help-title"><h2 id="help-title">Keyboard shortcuts</h2>
    <dl>${keys.map(([names, text]) => html`<div><dt>${names.map((name) => html`<kbd>${name}</kbd> `)}</dt><dd>${text}</dd></div>`)}</dl>
    <p><label><input type="checkbox" id="single-keys" checked=${!keysOff()} onChange=${switchKeys} /> Use single keys</label></p>
    <form method="dialog"><button>Close</button></form></dialog>`;
}
export const showKeys = () => document.getElementById("help").showModal();

// Calls the function of a key, unless the user types; a function that returns false leaves the key alone.
export function onKeys(find) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help")?.open) return;
    if (event.target.closest("textarea, input, select")) {
      if (event.key === "Escape") event.target.blur();
      if (event.target.type !== "checkbox") return;
    }
    if (keysOff()) return;
    const action = find(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  });
}
