// Which lines a chart has, and their runs: stretches of one status, each drawn in its own way.

import { END_OF_TIME } from "./format.js";

export const MANY = 12; // from more splits on, the worst ones are drawn, and the rest as a band
const WORST = 6;
const STATUSES = { a: "active", p: "paused", i: "idle", f: "finished" };
const PADDING = 0.07;
const LEAST_SPAN = 4_000;
const FIRST_DATE = -8e15; // dates begin here in JavaScript

// The statuses that splits have, or had while the chart goes back.
export const statusesOf = (samples, table, pinned) => {
  const drawn = linesOf(samples, table, pinned).filter((line) => line.kind === "split");
  const past = drawn.flatMap((line) => line.runs.map((run) => run.status));
  return new Set([...past, ...table.splits.map((split) => split.status)]);
};

const isShown = (value) => value !== null && value < END_OF_TIME && value > FIRST_DATE;

// [{status, points: [[time, value], ...]}]; a run starts where the one before it ended, so that the line is whole.
export const runs = (times, values, statuses) => {
  const found = [];
  let run = null;
  values.forEach((value, index) => {
    const status = STATUSES[statuses[index]] ?? "active";
    if (!isShown(value) || statuses[index] === "-") {
      run = null;
    } else if (run !== null && run.status === status) {
      run.points.push([times[index], value]);
    } else {
      const last = run === null ? [] : [run.points.at(-1)];
      run = { status, points: [...last, [times[index], value]] };
      found.push(run);
    }
  });
  return found;
};

const plain = (samples, column) => runs(samples.times, samples[column], "a".repeat(samples.times.length));

export const chosen = (table, pinned) => {
  const names = table.splits.map((split) => split.split);
  if (names.length <= MANY) return names;
  return [...new Set([...names.slice(0, WORST), ...names.filter((name) => pinned.has(name))])];
};

export const linesOf = (samples, table, pinned) => {
  const lines = [{ kind: "limit", name: "limit", runs: plain(samples, "max_allowed") }];
  if (table.splits.length > MANY) lines.push({ kind: "median", name: "median of all", runs: plain(samples, "median") });
  const statuses = new Map(table.splits.map((split) => [split.split, split.status]));
  for (const name of chosen(table, pinned)) {
    const series = samples.splits.get(name);
    if (series === undefined) continue;
    const status = statuses.get(name);
    lines.push({ kind: "split", name, status, runs: runs(samples.times, series.watermark, series.status) });
  }
  lines.push({ kind: "combined", name: "combined", runs: plain(samples, "watermark") });
  return lines.filter((line) => line.runs.length);
};

// The area between the lowest and the highest split: [[time, low, high], ...].
export const bandOf = (samples, table) => {
  if (table.splits.length <= MANY) return [];
  return samples.times
    .map((time, index) => [time, samples.low[index], samples.high[index]])
    .filter(([, low, high]) => isShown(low) && isShown(high));
};

// Splits that do not count may be days away: they stretch the axis only a little, and leave the picture otherwise.
export const domain = (lines, band) => {
  const points = (wanted) => lines.flatMap((line) => line.runs.filter((run) => wanted(run.status)).flatMap((run) => run.points));
  const holds = (status) => status === "active" || status === "paused";
  const values = [...points(holds).map(([, value]) => value), ...band.flatMap(([, low, high]) => [low, high])];
  const others = points((status) => !holds(status)).map(([, value]) => value);
  if (!values.length) values.push(...others);
  let low = values.reduce((least, value) => Math.min(least, value), Infinity);
  let high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const reach = Math.max(high - low, LEAST_SPAN);
  const [bottom, top] = [low - reach, high + reach];
  for (const value of others) {
    if (value >= bottom && value <= top) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  const padding = Math.max((high - low) * PADDING, (LEAST_SPAN - (high - low)) / 2);
  return [low - padding, high + padding];
};
