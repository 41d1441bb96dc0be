// The chart of one source: event time over processing time, every split's watermark, the combined one, the limit.

import { svg } from "./dom.js";
import { second, shortened } from "./format.js";
import { bandOf, domain, linesOf } from "./lines.js";
import { mark } from "./marks.js";
import { scale, ticks } from "./scales.js";

const NARROW = 560;
const LETTER_OF_TICKS = 7.6;
const TIME_LETTERS = 8; // charts below each other begin at the same place
const LABEL_GAP = 15;
const LABEL_LENGTH = 22;
const LETTER = 7;
const TICK_WIDTH = 78;
const TICK_HEIGHT = 44;
const LEAST_SECONDS = 30_000;

export const draw = (root, { samples, table, pinned, lit }) => {
  const lines = linesOf(samples, table, pinned);
  const band = bandOf(samples, table);
  root.replaceChildren();
  if (!lines.length) return null;
  const plot = layOut(root, samples, lines, band);
  const inside = svg("g", { "clip-path": `url(#${plot.clip})` });
  if (band.length) inside.append(svg("path", { d: area(plot, band), class: "band" }));
  const isLit = (line) => line.kind === "split" && line.name === lit;
  for (const line of lines.toSorted((a, b) => isLit(a) - isLit(b))) {
    if (line.kind === "limit") inside.append(...line.runs.map((run) => beyond(plot, run.points)));
    inside.append(...paths(plot, line, lit));
  }
  root.append(clipping(plot), ...axes(plot), inside, ...labels(plot, lines, lit));
  root.setAttribute("aria-label", description(table));
  return plot;
};

const layOut = (root, samples, lines, band) => {
  const width = Math.max(root.clientWidth, 280);
  const height = root.clientHeight;
  const isNarrow = width < NARROW;
  const longest = Math.max(...lines.map((line) => Math.min(line.name.length, LABEL_LENGTH)));
  const right = isNarrow ? 14 : 22 + longest * LETTER;
  const [top, bottom] = [26, height - 42];
  const y = scale(...domain(lines, band), bottom, top);
  const tickLetters = Math.max(TIME_LETTERS, ...ticks(y, (bottom - top) / TICK_HEIGHT).map(({ text }) => text.length));
  const frame = { left: 12 + tickLetters * LETTER_OF_TICKS, top, right: width - right, bottom };
  const last = samples.times.at(-1);
  const first = Math.min(samples.times[0], last - LEAST_SECONDS);
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return {
    frame,
    isNarrow,
    clip: `clip-${root.id}`,
    x: scale(first, last, frame.left, frame.right),
    y,
  };
};

const clipping = ({ clip, frame }) => {
  const [x, y] = [frame.left, frame.top - 4];
  const box = svg("rect", { x, y, width: frame.right - x + 6, height: frame.bottom - y + 4 });
  return svg("clipPath", { id: clip }, box);
};

const axes = ({ frame, x, y }) => {
  const { left, right, top, bottom } = frame;
  const parts = ticks(y, (bottom - top) / TICK_HEIGHT).flatMap(({ value, text }) => [
    svg("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "grid" }),
    svg("text", { x: left - 10, y: y(value) + 4, class: "tick", "text-anchor": "end" }, text),
  ]);
  parts.push(svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
  for (const { value, text } of ticks(x, (right - left) / TICK_WIDTH)) {
    parts.push(svg("line", { x1: x(value), x2: x(value), y1: bottom, y2: bottom + 4, class: "axis" }));
    parts.push(svg("text", { x: x(value), y: bottom + 18, class: "tick", "text-anchor": "middle" }, text));
  }
  const middle = (left + right) / 2;
  parts.push(svg("text", { x: 0, y: 12, class: "name" }, `event time, ${dates(y)}`));
  const name = `processing time, ${dates(x)}`;
  parts.push(svg("text", { x: middle, y: bottom + 36, class: "name", "text-anchor": "middle" }, name));
  return parts;
};

const dates = ({ low, high }) => {
  const [from, to] = [low, high].map((value) => new Date(value).toISOString().slice(0, 10));
  return from === to ? `${from} UTC` : `${from} to ${to} UTC`;
};

const paths = (plot, line, lit) =>
  line.runs.map((run) => {
    const emphasis = lit === null || line.kind !== "split" ? "" : line.name === lit ? "lit" : "dim";
    const attributes = { d: steps(plot, run.points), class: `line ${line.kind} ${run.status} ${emphasis}`.trim() };
    if (line.kind === "split") attributes["data-split"] = line.name;
    const title = line.kind === "split" ? `${line.name}, ${run.status}` : line.name;
    return svg("path", attributes, svg("title", {}, title));
  });

// A watermark holds until its next change: steps, of which only the corners are written.
const steps = ({ x, y }, points) => {
  let before = y(points[0][1]);
  let path = `M${x(points[0][0])} ${before}`;
  for (const [time, value] of points.slice(1)) {
    const now = y(value);
    if (now !== before) path += `H${x(time)}V${now}`;
    before = now;
  }
  return `${path}H${x(points.at(-1)[0])}`;
};

// Where no split may go: the area above the limit.
const beyond = (plot, points) => {
  const [first, last] = [points[0], points.at(-1)].map(([time]) => plot.x(time));
  const top = plot.frame.top - 4;
  return svg("path", { d: `${steps(plot, points)}H${last}V${top}H${first}Z`, class: "beyond" });
};

const area = ({ x, y }, band) => {
  const upper = band.map(([time, , high]) => `${x(time)} ${y(high)}`);
  const lower = band.map(([time, low]) => `${x(time)} ${y(low)}`).reverse();
  return `M${[...upper, ...lower].join("L")}Z`;
};

// The names stand at the ends of the lines, moved apart where they would cover each other.
const labels = (plot, lines, lit) => {
  const { frame, x, y, isNarrow } = plot;
  const ends = lines.map((line) => {
    const [time, value] = line.runs.at(-1).points.at(-1);
    const raw = y(value);
    const arrow = raw > frame.bottom ? "↓ " : raw < frame.top - 4 ? "↑ " : "";
    return { line, arrow, at: x(time), end: Math.min(Math.max(raw, frame.top), frame.bottom) };
  });
  const signs = ends
    .filter(({ line }) => line.kind === "split" && line.status !== undefined)
    .map(({ line, at, end }) => mark(line.status, at, end));
  if (isNarrow) return signs;
  return [...signs, ...spread(ends, frame).flatMap((end) => label(end, frame, lit))];
};

const spread = (ends, { top, bottom }) => {
  const sorted = ends.toSorted((a, b) => a.end - b.end);
  let floor = top - LABEL_GAP;
  for (const end of sorted) floor = end.y = Math.max(end.end, floor + LABEL_GAP);
  let ceiling = bottom + LABEL_GAP;
  for (const end of sorted.reverse()) ceiling = end.y = Math.min(end.y, ceiling - LABEL_GAP);
  return sorted;
};

const label = ({ line, arrow, at, end, y }, frame, lit) => {
  const isDim = lit !== null && line.kind === "split" && line.name !== lit;
  const kind = `label ${line.kind} ${line.status ?? ""} ${isDim ? "dim" : ""}`.trim();
  const words = arrow + shortened(line.name, LABEL_LENGTH - arrow.length);
  const text = svg("text", { x: frame.right + 16, y: y + 4, class: kind }, words, svg("title", {}, line.name));
  const leader = svg("path", { d: `M${at + 5} ${end}L${frame.right + 13} ${y}`, class: "leader" });
  return Math.abs(y - end) > 3 ? [leader, text] : [text];
};

const description = (table) => {
  const slowest = table.splits[0];
  const held = slowest === undefined ? "" : ` ${slowest.split} is the slowest split, at ${second(slowest.watermark)}.`;
  return `Watermarks of ${table.name} over time. Combined: ${second(table.watermark)}.${held} The table has every split.`;
};
