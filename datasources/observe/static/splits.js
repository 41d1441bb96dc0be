// The table of a source's splits: sortable, the worst ones first where there are many.

import { html, setAttribute, setText } from "./dom.js";
import { NONE, byName, count, duration, lag, second, time } from "./format.js";
import { MANY } from "./lines.js";
import { sign } from "./marks.js";

const since = (split) => (split.status === "paused" ? split.paused_since : split.status === "idle" ? split.idle_since : null);

const COLUMNS = [
  { key: "split", title: "Split", text: (split) => split.split },
  { key: "status", title: "Status", text: (split) => split.status },
  { key: "watermark", title: "Watermark", text: (split) => time(split.watermark) },
  {
    key: "watermark_lag", title: "Behind", hint: "driver's clock minus watermark",
    text: (split) => lag(split.watermark_lag, split.watermark),
  },
  { key: "lag", title: "Unread", text: (split) => count(split.lag), hint: "positions that are not planned yet" },
  { key: "position", title: "Position", text: (split) => count(split.position), hint: "the next one to be read" },
  {
    key: "drift", title: "Drift", hint: "ahead of the slowest split of the group", isAligned: true,
    text: (split) => duration(split.drift),
  },
  { key: "since", title: "Not read since", hint: "when it became idle or was paused", value: since, text: (split) => second(since(split)) },
  { key: "late_rows", title: "Late rows", text: (split) => count(split.late_rows), hint: "behind the source's watermark when they were read" },
  {
    key: "max_lateness_ms", title: "Max lateness", hint: "the largest lateness of a row",
    text: (split) => (split.late_rows ? duration(split.max_lateness_ms) : NONE),
  },
];

const compare = (column) => (a, b) => {
  const [left, right] = [a, b].map(column.value ?? ((split) => split[column.key]));
  if (left === null || right === null) return (left === null) - (right === null);
  return typeof left === "string" ? byName(left, right) : left - right;
};

export class SplitTable {
  #rows = new Map();
  #sort = null; // {key, isDown}
  #isWhole = false;
  #table = null;

  // onPin(name): a split was chosen; onLight(name or null): the pointer or the focus is on it.
  constructor(caption, { onPin, onLight }) {
    this.onPin = onPin;
    this.onLight = onLight;
    this.headings = COLUMNS.map((column) => this.#heading(column));
    this.body = html("tbody");
    this.caption = html("caption", {}, caption);
    const table = html("table", {}, this.caption, html("thead", {}, html("tr", {}, ...this.headings)), this.body);
    this.scroll = html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `Splits of ${caption}` }, table);
    this.more = html("button", { type: "button", class: "more", hidden: "" });
    this.more.addEventListener("click", () => {
      this.#isWhole = !this.#isWhole;
      this.#show();
    });
    this.element = html("div", { class: "splits" }, this.scroll, this.more);
  }

  update(table, pinned) {
    this.#table = table;
    this.pinned = pinned;
    this.#show();
  }

  #heading(column) {
    const button = html("button", { type: "button", title: column.hint }, column.title);
    const cell = html("th", { scope: "col", "data-column": column.key }, button);
    button.addEventListener("click", () => {
      const isSame = this.#sort?.key === column.key;
      this.#sort = isSame && this.#sort.isDown ? null : { key: column.key, isDown: isSame };
      this.#show();
    });
    return cell;
  }

  #show() {
    const table = this.#table;
    const isAligned = table.group !== null || table.max_allowed !== null;
    this.body.parentElement.classList.toggle("unaligned", !isAligned);
    const splits = this.#sorted(table.splits);
    const shown = this.#isWhole ? splits : splits.slice(0, MANY);
    this.#describe(table, shown.length);
    const rows = shown.map((split) => this.#row(split));
    const isSameOrder = rows.length === this.body.children.length && rows.every((row, at) => row === this.body.children[at]);
    if (!isSameOrder) this.#place(rows);
    const names = new Set(table.splits.map((split) => split.split));
    for (const name of this.#rows.keys()) if (!names.has(name)) this.#rows.delete(name);
  }

  #place(rows) {
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    this.body.replaceChildren(...rows);
    focused?.focus({ preventScroll: true });
  }

  #sorted(splits) {
    this.headings.forEach((cell) => {
      const isSorted = this.#sort?.key === cell.dataset.column;
      setAttribute(cell, "aria-sort", isSorted ? (this.#sort.isDown ? "descending" : "ascending") : "none");
    });
    if (this.#sort === null) {
      return splits.length > MANY ? splits : splits.toSorted((a, b) => byName(a.split, b.split));
    }
    const sorted = splits.toSorted(compare(COLUMNS.find((column) => column.key === this.#sort.key)));
    return this.#sort.isDown ? sorted.reverse() : sorted;
  }

  #describe(table, shown) {
    const { split_count: all, splits } = table;
    const order = this.#sort === null && splits.length > MANY ? ", those that hold the source back first" : "";
    const cut = all > splits.length ? `; the driver keeps ${count(splits.length)} in its table` : "";
    setText(this.caption, shown < all ? `${count(shown)} of ${count(all)} splits${order}${cut}` : "");
    this.more.hidden = splits.length <= MANY;
    setText(this.more, this.#isWhole ? `Show ${MANY}` : `Show all ${count(splits.length)}`);
    setAttribute(this.more, "aria-expanded", String(this.#isWhole));
  }

  #row(split) {
    const row = this.#rows.get(split.split) ?? this.#newRow(split.split);
    COLUMNS.forEach((column, at) => {
      if (column.key === "status") this.#status(row.cells[at], split.status);
      else if (column.key !== "split") setText(row.cells[at], column.text(split));
    });
    setAttribute(row, "data-status", split.status);
    row.cells.item(COLUMNS.length - 2).classList.toggle("loss", split.late_rows > 0);
    setAttribute(row.cells[0].firstElementChild, "aria-pressed", String(this.pinned.has(split.split)));
    return row;
  }

  #newRow(name) {
    const button = html("button", { type: "button", class: "pin", title: "mark it in the chart" }, name);
    const cells = COLUMNS.slice(1).map((column) => html("td", { "data-column": column.key }));
    const row = html("tr", { "data-split": name }, html("th", { scope: "row" }, button), ...cells);
    button.addEventListener("click", () => this.onPin(name));
    for (const event of ["pointerenter", "focusin"]) row.addEventListener(event, () => this.onLight(name));
    for (const event of ["pointerleave", "focusout"]) row.addEventListener(event, () => this.onLight(null));
    this.#rows.set(name, row);
    return row;
  }

  #status(cell, status) {
    if (cell.dataset.status === status) return;
    cell.dataset.status = status;
    cell.replaceChildren(sign(status), html("span", {}, status));
  }
}
