// The section of one source: heading, figures, chart, table.

import { draw } from "./chart.js";
import { html, setText, svg } from "./dom.js";
import { count, duration, lag, plural, second, time } from "./format.js";
import { History } from "./history.js";
import { MANY, statusesOf } from "./lines.js";
import { sign, swatch } from "./marks.js";
import { Readout } from "./readout.js";
import { SplitTable } from "./splits.js";

const STATUSES = ["active", "paused", "idle", "finished"];

const OLD_MS = 5_000;

let made = 0;

export class SourceView {
  #pinned = new Set();
  #lit = null;
  #table = null;
  #isVisible = true;

  constructor(table) {
    made += 1;
    this.id = `source-${made}`;
    this.history = new History(table.source);
    this.title = html("h2", { id: `${this.id}-title` }, table.name);
    this.about = html("p", { class: "about" });
    this.figures = html("dl", { class: "figures" });
    this.chart = svg("svg", { id: `${this.id}-chart`, class: "chart", role: "img", tabindex: "0" });
    this.link = html("a", { href: `#${this.id}` }, html("i"), html("b"), html("span"));
    this.legend = html("ul", { class: "legend" });
    this.words = html("p", { class: "readout" });
    this.readout = new Readout(this.chart, this.words);
    this.splits = new SplitTable(table.name, { onPin: (name) => this.#pin(name), onLight: (name) => this.#light(name) });
    const figure = html("figure", {}, this.words, this.chart, html("figcaption", {}, this.legend));
    this.element = html(
      "section",
      { class: "source", id: this.id, "data-source": table.source, "aria-labelledby": `${this.id}-title` },
      html("div", { class: "heading" }, this.title, this.about), this.figures, figure, this.splits.element,
    );
    new IntersectionObserver(([entry]) => this.#see(entry.isIntersecting)).observe(this.element);
    new ResizeObserver(() => this.#draw()).observe(this.chart);
  }

  // What is out of sight is neither asked for nor drawn.
  get isVisible() {
    return this.#isVisible;
  }

  update(table, { time: now, counters }) {
    this.#table = table;
    setText(this.title, table.name);
    setText(this.about, about(table, now));
    this.#showFigures(table, counters);
    this.#showLink(table);
    this.splits.update(table, this.#pinned);
    this.#showLegend(table);
    this.#draw();
  }

  #see(isVisible) {
    this.#isVisible = isVisible;
    this.#draw();
  }

  #pin(name) {
    if (!this.#pinned.delete(name)) this.#pinned.add(name);
    this.splits.update(this.#table, this.#pinned);
    this.#draw();
  }

  #light(name) {
    this.#lit = name;
    this.#draw();
  }

  #draw() {
    const isReady = this.#table !== null && this.history.samples.times.length > 0;
    if (!isReady || !this.#isVisible || !this.chart.isConnected) return;
    const lit = this.#lit ?? (this.#pinned.size === 1 ? [...this.#pinned][0] : null);
    const state = { samples: this.history.samples, table: this.#table, pinned: this.#pinned, lit };
    const plot = draw(this.chart, state);
    this.chart.parentElement.classList.toggle("blank", plot === null);
    this.readout.update(plot === null ? null : { ...state, plot });
  }

  #showFigures(table, labels) {
    const figures = figuresOf(table, labels);
    const terms = [...this.figures.querySelectorAll("dt")].map((term) => term.textContent);
    if (terms.join() !== figures.map(({ term }) => term).join()) {
      const groups = figures.map(({ term, kind }) => html("div", { class: kind, "data-figure": term }, html("dt", {}, term), html("dd")));
      this.figures.replaceChildren(...groups);
    }
    figures.forEach(({ text, status }, at) => {
      const value = this.figures.children[at].lastElementChild;
      if (value.textContent !== text) value.replaceChildren(...(status ? [sign(status)] : []), text);
    });
  }

  // The same element for good: one that is replaced between press and release is never clicked.
  #showLink(table) {
    const [place, name, words] = this.link.children;
    const behind = table.watermark === null ? "no watermark" : `${lag(table.time - table.watermark, table.watermark)} behind`;
    setText(name, table.name);
    setText(words, `${table.status}, ${behind}`);
    if (place.dataset.status !== table.status) place.replaceChildren(sign(table.status));
    place.dataset.status = table.status;
  }

  #showLegend(table) {
    const statuses = statusesOf(this.history.samples, table, this.#pinned);
    const present = STATUSES.filter((status) => statuses.has(status));
    const isMany = table.splits.length > MANY;
    const items = [
      ["combined", undefined, "combined watermark of the source"],
      ...(table.max_allowed === null ? [] : [["limit", undefined, "limit of alignment: no split is read beyond"]]),
      ...present.map((status) => ["split", status, `${status} split`]),
      ...(isMany ? [["median", undefined, "median of all splits; the band goes from the lowest to the highest"]] : []),
    ];
    const wanted = items.map(([, , words]) => words).join("\n");
    if (this.legend.dataset.items === wanted) return;
    this.legend.dataset.items = wanted;
    this.legend.replaceChildren(...items.map(([kind, status, words]) => html("li", {}, swatch(kind, status), words)));
  }
}

const about = (table, now) => {
  const parts = [
    table.query === null ? "query not known yet" : `query ${table.query}`,
    table.group === null ? "no alignment group" : `group ${table.group}`,
    `batch ${count(table.batch)}`,
    ...(now - table.time > OLD_MS ? [`planned ${duration(now - table.time)} ago: the figures are of ${second(table.time)}`] : []),
    `run ${table.source}`,
  ];
  return parts.join(" · ");
};

const figuresOf = (table, labels) => {
  const behind = table.watermark === null ? null : table.time - table.watermark;
  const counters = Object.entries(labels).filter(([key]) => table[key] > 0);
  return [
    { term: "Watermark", text: time(table.watermark), kind: "wide" },
    { term: "Behind the clock", text: lag(behind, table.watermark) },
    { term: "Status", text: table.status, status: table.status },
    { term: "Splits", text: splitsText(table) },
    { term: "Late rows", text: lateText(table), kind: table.late_rows ? "loss" : null },
    ...(table.snapshot ? [{ term: "Snapshot", text: snapshotText(table.snapshot), kind: "line" }] : []),
    ...(table.unanswered_splits ? [{ term: "No answer", text: unansweredText(table), kind: "line" }] : []),
    ...(isPurgeNear(table) ? [{ term: "Purge", text: purgeText(table.log), kind: "line" }] : []),
    ...(waits(table) ? [{ term: "Waits", text: waits(table), kind: "line" }] : []),
    ...counters.map(([key, label]) => ({ term: capitalised(label), text: count(table[key]), kind: "loss" })),
  ];
};

const capitalised = (words) => words.charAt(0).toUpperCase() + words.slice(1);

const splitsText = (table) => {
  const counts = STATUSES.map((status) => [status, table.splits.filter((split) => split.status === status).length]);
  const parts = counts.filter(([, number]) => number).map(([status, number]) => `${count(number)} ${status}`);
  return parts.join(", ") || plural(table.split_count, "split");
};

const snapshotText = (found) => {
  if (found.status === "done") return `done: ${plural(found.chunks, "chunk")}, ${plural(found.rows, "row")}`;
  const left = found.seconds_left === null ? "time left not known yet" : `about ${duration(found.seconds_left * 1_000)} left`;
  const chunks = `${count(found.chunks)} of about ${plural(found.chunks_estimated, "chunk")}`;
  const rows = `${count(found.rows)} of about ${plural(found.rows_estimated, "row")}`;
  return `${found.table ?? ""}: ${chunks}, ${rows}, ${count(found.rows_per_second)} rows/s, ${left}`;
};

const unansweredText = (table) => {
  const without = table.splits.filter((split) => split.unanswered_since !== null);
  const [first] = without.toSorted((a, b) => a.unanswered_since - b.unanswered_since);
  const words = `about ${count(table.unanswered_splits)} of ${plural(table.split_count, "split")}`;
  return first ? `${words}; ${first.split} since ${second(first.unanswered_since)}: ${first.unanswered_reason}` : words;
};

const isPurgeNear = ({ log }) => Boolean(log?.retention_ms) && 2 * (log.unread_age_ms ?? 0) > log.retention_ms;

const purgeText = (log) =>
  `the oldest unread change is ${duration(log.unread_age_ms)} old, and the server purges its log after ${duration(log.retention_ms)}`;

const waits = (table) => {
  const builds = table.hold?.status === "waiting" ? table.hold.builds : [];
  const lines = builds.map((build) => {
    const parts = [`for ${build.name} since ${second(table.hold.since)}`, build.status];
    if (build.unread) parts.push(`${count(build.unread)} unread`);
    if (build.snapshot) parts.push(`snapshot ${snapshotText(build.snapshot)}`);
    return parts.join(", ");
  });
  const load = table.load?.status === "loading" ? [`others, for ${table.load.name}: ${count(table.load.unread ?? 0)} unread`] : [];
  return [...lines, ...load].join("; ");
};

const lateText = (table) =>
  table.late_rows ? `${count(table.late_rows)}, up to ${duration(table.max_lateness_ms)}` : "0";
