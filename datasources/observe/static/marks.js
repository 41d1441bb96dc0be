// A sign per status, so that no status is told by colour alone: in tables, at the end of lines, in legends.

import { svg } from "./dom.js";

const SHAPES = {
  active: (x, y) => [svg("circle", { cx: x, cy: y, r: 3.6 })],
  paused: (x, y) => [
    svg("rect", { x: x - 3.6, y: y - 4, width: 2.6, height: 8 }),
    svg("rect", { x: x + 1, y: y - 4, width: 2.6, height: 8 }),
  ],
  idle: (x, y) => [svg("circle", { cx: x, cy: y, r: 3.2, class: "hollow" })],
  finished: (x, y) => [svg("rect", { x: x - 3.4, y: y - 3.4, width: 6.8, height: 6.8 })],
};
SHAPES["processing-time"] = (x, y) => [svg("path", { d: `M${x - 4} ${y + 3.6}L${x} ${y - 4}L${x + 4} ${y + 3.6}Z` })];

export const mark = (status, x, y) =>
  svg("g", { class: `mark ${status in SHAPES ? status : "active"}` }, ...(SHAPES[status] ?? SHAPES.active)(x, y));

// The sign with a piece of its line, as it looks in the chart.
export const swatch = (kind, status) => {
  const line = svg("path", { d: "M1 6H29", class: `line ${kind} ${status ?? ""}` });
  const parts = status === undefined ? [line] : [line, mark(status, 24, 6)];
  return svg("svg", { viewBox: "0 0 30 12", class: "swatch", "aria-hidden": "true" }, ...parts);
};

export const sign = (status) =>
  svg("svg", { viewBox: "0 0 12 12", class: "sign", "aria-hidden": "true" }, mark(status, 6, 6));
