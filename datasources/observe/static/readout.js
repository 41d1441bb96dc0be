// Reads a chart at one time: with the pointer, or with the arrow keys when the chart has the focus.

import { svg } from "./dom.js";
import { duration, second, time } from "./format.js";
import { chosen } from "./lines.js";

const FAR = 10;

export class Readout {
  #index = null;
  #state = null;

  constructor(root, output) {
    this.root = root;
    this.output = output;
    root.addEventListener("pointermove", (event) => this.#point(event));
    root.addEventListener("pointerleave", () => this.#set(null));
    root.addEventListener("blur", () => this.#set(null));
    root.addEventListener("keydown", (event) => this.#key(event));
  }

  // Called after every drawing: the line goes with the chart.
  update(state) {
    this.#state = state;
    this.#show();
  }

  #point(event) {
    if (this.#state === null) return;
    const box = this.root.getBoundingClientRect();
    const wanted = this.#state.plot.x.invert(event.clientX - box.left);
    const { times } = this.#state.samples;
    const distances = times.map((at) => Math.abs(at - wanted));
    this.#set(distances.indexOf(Math.min(...distances)));
  }

  #key(event) {
    if (this.#state === null) return;
    const last = this.#state.samples.times.length - 1;
    const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -FAR, PageDown: FAR, Home: -last, End: last };
    if (event.key === "Escape") this.#set(null);
    if (!(event.key in moves)) return;
    event.preventDefault();
    this.#set(Math.min(last, Math.max(0, (this.#index ?? last) + moves[event.key])));
  }

  #set(index) {
    this.#index = index;
    this.#show();
  }

  #show() {
    this.root.querySelector(".cursor")?.remove();
    const state = this.#state;
    const at = state === null || this.#index === null ? undefined : state.samples.times[this.#index];
    if (at === undefined) {
      this.output.textContent = "";
      return;
    }
    const { x, frame } = state.plot;
    this.root.append(svg("line", { x1: x(at), x2: x(at), y1: frame.top, y2: frame.bottom, class: "cursor" }));
    this.output.textContent = this.#words(at);
  }

  #words(at) {
    const { samples, table, pinned, lit } = this.#state;
    const combined = samples.watermark[this.#index];
    const behind = combined === null ? "" : ` (${duration(at - combined)} behind)`;
    const names = lit === null ? chosen(table, pinned).filter((name) => pinned.has(name)) : [lit];
    const splits = names.map((name) => `${name} ${time(samples.splits.get(name)?.watermark[this.#index] ?? null)}`);
    return [`${second(at)}: combined ${time(combined)}${behind}`, ...splits].join(" · ");
  }
}
