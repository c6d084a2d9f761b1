// The two charts, by uPlot: accuracy with marks of drift and the volume of messages, and calibration.

import { Table, html, number, percent, plural, useEffect, useRef } from "./common.js";

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

// A chart that `options` describes; readers of the screen get `text`, with the drawn range of the y axis.
function Chart({ options, data, text }) {
  const place = useRef();
  useEffect(() => {
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--edge") }, ticks: { stroke: colour("--edge") } };
    const describe = ({ scales: { y } }) =>
      place.current.setAttribute("aria-label", `${text}; drawn from ${percent(y.min)} to ${percent(y.max)}`);
    const chart = new uPlot({
      width: place.current.clientWidth, height: 170, cursor: { drag: { x: false, y: false } }, ...options,
      axes: options.axes.map((each) => ({ ...axis, ...each })), hooks: { draw: [describe, options.draw ?? (() => {})] },
    }, data, place.current);
    return () => chart.destroy();
  }, [JSON.stringify(data)]);
  return html`<div class="chart" role="img" ref=${place}></div>`;
}

// One series for each model, from pairs of x and y.
function joined(models, names, points, options) {
  const data = uPlot.join(names.map((name) => {
    const found = points(models[name]);
    return [found.map(([x]) => x), found.map(([, y]) => y)];
  }));
  const series = names.map((name, place) => ({
    label: name, stroke: colour(`--line-${place % 4}`), width: 2, dash: DASHES[place % 4], spanGaps: true,
    value: (_, share) => percent(share), ...options,
  }));
  return { data, series };
}

const UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]];
const duration = (milliseconds) => {
  const [unit, size] = UNITS.find(([, each]) => milliseconds >= each);
  return plural(Math.round(milliseconds / size * 10) / 10, unit);
};

// The x axis is time, in seconds since 1970, if all messages have one; then bars show how many arrived. Else it is the number of the message.
export function Curves({ models, volume }) {
  const names = Object.keys(models).filter((name) => models[name].curve.length > 1);
  if (!names.length) return html`<p class="quiet">It is drawn after 10 labelled messages.</p>`;
  const isTimed = volume.steps.length > 1 && names.every((name) => models[name].curve.every(([, , time]) => time !== null));
  const place = ([n, time]) => isTimed ? time / 1000 : n;
  const points = (one) => one.curve.map(([n, share, time]) => [place([n, time]), share]).sort(([a], [b]) => a - b);
  const lines = joined(models, names, points);
  const series = [{ label: isTimed ? "time" : "message" }, ...lines.series];
  let { data } = lines;
  if (isTimed) {
    const { step, steps } = volume;
    data = uPlot.join([data, [steps.map(([begin]) => begin / 1000), steps.map(([, count]) => count)]]);
    series.push({ label: `messages in ${duration(step)}`, scale: "volume", fill: colour("--edge"), points: { show: false },
      paths: uPlot.paths.bars({ size: [1, 60, 1], align: 1 }), value: (_, count) => count == null ? "–" : number(count) });
  }
  const drawDrifts = (chart) => {
    const { left, top, width, height } = chart.bbox;
    chart.ctx.fillStyle = colour("--wrong");
    for (const drift of names.flatMap((name) => models[name].drifts)) {
      const x = chart.valToPos(place(drift), "x", true);
      if (x >= left && x <= left + width) chart.ctx.fillRect(x, top, 1, height);
    }
  };
  const options = {
    // The bars take the lowest third.
    scales: { x: { time: isTimed }, y: { range: (_, low) => [Math.max(0, low - 0.02), 1] }, volume: { range: (_, low, high) => [0, 3 * high] } },
    axes: [isTimed ? {} : { values: (_, ticks) => ticks.map(number) }, { values: (_, ticks) => ticks.map((tick) => percent(tick, 0)) }],
    series, draw: drawDrifts,
  };
  const drifts = names.filter((name) => models[name].drifts.length)
    .map((name) => `${name}: the error rose near message ${models[name].drifts.map(([n]) => n).join(", ")}`);
  const text = names.map((name) => `${name} ${percent(models[name].recent)}`).join(", ");
  const most = Math.max(...volume.steps.map(([, count]) => count));
  const arrived = isTimed ? `; volume: at most ${plural(most, "message")} in ${duration(volume.step)}` : "";
  return html`<${Chart} options=${options} data=${data} text=${`Accuracy of the last 500 messages${isTimed ? " along time" : ""}: ${text}${arrived}`} />
    ${drifts.length > 0 && html`<p class="quiet">${drifts.join("; ")}</p>`}`;
}

export function Reliability({ models }) {
  const names = Object.keys(models).filter((name) => models[name].reliability.length);
  if (!names.length) return html`<p class="quiet">No message with a label was decided yet.</p>`;
  const { data, series } = joined(models, names, (one) => one.reliability, { paths: () => null, points: { show: true, size: 8 } });
  const ideal = { label: "ideal", stroke: colour("--quiet"), dash: [3, 4], points: { show: false }, value: (_, share) => percent(share) };
  const shares = { values: (_, ticks) => ticks.map((tick) => percent(tick, 0)) };
  const options = {
    scales: { x: { time: false, range: [0, 1] }, y: { range: [0, 1] } }, axes: [shares, shares],
    series: [{ label: "probability", value: (_, share) => percent(share) }, ...series, ideal],
  };
  const text = names.map((name) => `${name} differs by ${percent(models[name].calibration_error)} on average`).join(", ");
  const rows = names.flatMap((name) => models[name].reliability.map(([probability, share, messages]) =>
    [name, percent(probability), percent(share), number(messages)]));
  return html`<${Chart} options=${options} data=${[...data, data[0]]} text=${`Share of correct decisions by probability: ${text}`} />
    <p class="quiet">${text}.</p>
    <details><summary>As a table</summary>
      <${Table} caption="Calibration over the last 5,000 messages" head=${["model", "probability", "correct", "messages"]} rows=${rows} />
    </details>`;
}
