// The two pictures: learning curves with marks of drift, and reliability.

import { draw, make, percent, table } from "./dom.js";

const WIDTH = 640, HEIGHT = 220, LEFT = 56, RIGHT = 130, TOP = 14, BOTTOM = 34;
const DASHES = ["none", "7 4", "2 3", "10 3 2 3"];

function frame(label, xs, ys, xText, yText) {
  const x = (value) => LEFT + (WIDTH - LEFT - RIGHT) * (value - xs[0]) / (xs[1] - xs[0] || 1);
  const y = (value) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - ys[0]) / (ys[1] - ys[0] || 1);
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  for (let n = 0; n <= 4; n++) {
    const value = ys[0] + (ys[1] - ys[0]) * n / 4;
    svg.append(
      draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      draw("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, yText(value)),
    );
    const across = xs[0] + (xs[1] - xs[0]) * n / 4;
    svg.append(draw("text", { x: x(across), y: HEIGHT - 12, "text-anchor": "middle" }, xText(across)));
  }
  return { svg, x, y };
}

// Lines that end at the same place are named together, so that no name covers another.
function named(svg, ends) {
  ends.sort((a, b) => a.y - b.y);
  const groups = [];
  for (const end of ends) {
    const last = groups[groups.length - 1];
    if (last && end.y - last.y < 13) last.names.push(end.name);
    else groups.push({ y: end.y, names: [end.name] });
  }
  for (const { y, names } of groups) {
    svg.append(draw("text", { x: WIDTH - RIGHT + 6, y: y + 4 }, names.join(", ")));
  }
}

export function curves(models) {
  const names = Object.keys(models).filter((name) => models[name].curve.length > 1);
  if (!names.length) return make("p", { class: "quiet" }, "It is drawn after 40 messages.");
  const points = names.flatMap((name) => models[name].curve);
  const most = Math.max(...points.map(([n]) => n));
  const least = Math.min(...points.slice(-200).map(([, share]) => share), 0.99);
  // Four even steps up to 100 %.
  const low = 1 - 4 * [0.01, 0.025, 0.05, 0.1, 0.25].find((step) => 1 - 4 * step <= least);
  const said = names.map((name) => `${name} ${percent(models[name].recent)}`).join(", ");
  const { svg, x, y } = frame(`Accuracy of the last 500 messages: ${said}`, [0, most], [low, 1],
    (n) => Math.round(n).toLocaleString("en"), (share) => percent(share, low > 0.85 && low < 0.95 ? 1 : 0));
  const ends = names.map((name, place) => {
    const path = models[name].curve.map(([n, share]) => `${x(n)},${y(Math.max(share, low))}`).join(" ");
    svg.append(draw("polyline", { class: `line line-${place % 4}`, points: path, "stroke-dasharray": DASHES[place % 4] }));
    for (const n of models[name].drifts) {
      svg.append(draw("line", { class: "drift", x1: x(n), x2: x(n), y1: TOP, y2: HEIGHT - BOTTOM },
        draw("title", {}, `${name}: the error rose near message ${n}`)));
    }
    return { name, y: y(Math.max(models[name].curve.at(-1)[1], low)) };
  });
  named(svg, ends);
  const drifts = names.filter((name) => models[name].drifts.length)
    .map((name) => `${name}: the error rose near message ${models[name].drifts.join(", ")}`);
  return make("div", {}, svg, drifts.length ? make("p", { class: "quiet" }, drifts.join("; ")) : null);
}

export function reliability(models) {
  const names = Object.keys(models).filter((name) => models[name].reliability.length);
  if (!names.length) return make("p", { class: "quiet" }, "Nothing was decided on yet.");
  const said = names.map((name) => `${name} is ${percent(models[name].calibration_error)} off`).join(", ");
  const { svg, x, y } = frame(`Share that came true, by the probability given: ${said}`, [0, 1], [0, 1],
    (share) => percent(share, 0), (share) => percent(share, 0));
  svg.append(draw("line", { class: "ideal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
  names.forEach((name, place) => {
    for (const [probability, share, messages] of models[name].reliability) {
      svg.append(draw("circle", {
        class: `dot line-${place % 4}`, cx: x(probability), cy: y(share), r: 3 + Math.min(6, Math.log10(messages) * 2),
      }, draw("title", {}, `${name}: ${messages} messages, said ${percent(probability)}, came true ${percent(share)}`)));
    }
  });
  const rows = names.flatMap((name) => models[name].reliability.map(([probability, share, messages]) =>
    [name, percent(probability), percent(share), messages.toLocaleString("en")]));
  return make("div", {}, svg, make("p", { class: "quiet" }, `On average ${said}.`),
    make("details", {}, make("summary", {}, "As a table"),
      table("Reliability", ["model", "probability given", "came true", "messages"], rows)));
}
