// Small tools: elements made of text, never of HTML, and requests.

const SVG = "http://www.w3.org/2000/svg";

// An element with attributes and children. A string child becomes text, whatever it contains.
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function table(caption, head, rows) {
  return make("table", {},
    make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell, place) =>
      place ? make("td", {}, cell) : make("th", { scope: "row" }, cell))))));
}

export const percent = (share, digits = 1) =>
  share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`;

export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

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
