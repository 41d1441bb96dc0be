// The page: asks the driver every second, keeps one view per source, says when there is no answer.

import { html, setText } from "./dom.js";
import { plural, second } from "./format.js";
import { SourceView } from "./source.js";

const EVERY_MS = 1_000;
const ANSWER_MS = 5_000;
const STALE_MS = 5_000;
const FEW_SOURCES = 1;
const NOT_FOUND = 404;

const find = (id) => document.getElementById(id);
const [main, banner, status, nav, pause] = ["main", "banner", "status", "sources", "pause"].map(find);
const views = new Map();
let answered = null; // the driver's clock at its last answer
let isPaused = false;

const ask = async (address) => {
  const response = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS), cache: "no-store" });
  if (response.status === NOT_FOUND) return null; // a source that ended in between
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
};

const showStatus = (kind, words) => {
  document.body.dataset.state = kind;
  banner.hidden = words === "";
  setText(banner, words);
};

const show = (answer) => {
  answered = answer.time;
  setText(status, `Live, ${second(answer.time)}`);
  const isStale = answer.time - answer.sampled > STALE_MS;
  const words = `The driver answers, but its figures are from ${second(answer.sampled)}: its log has the reason.`;
  showStatus(isStale ? "stale" : "live", isStale ? words : "");
};

const showGone = () => {
  setText(status, "No answer");
  const since = answered === null ? "" : ` since ${second(answered)}`;
  const last = views.size ? " Below is the last known state." : "";
  showStatus("gone", `No answer from the driver${since}: it has ended, or cannot be reached.${last} This page keeps polling.`);
};

const arrange = (tables) => {
  const live = new Set(tables.map((table) => table.source));
  for (const [source, view] of views) {
    if (!live.has(source)) {
      view.element.remove();
      views.delete(source);
    }
  }
  main.querySelector(".empty")?.remove();
  tables.forEach((table, at) => {
    if (!views.has(table.source)) views.set(table.source, new SourceView(table));
    const { element } = views.get(table.source);
    if (main.children[at] !== element) main.insertBefore(element, main.children[at] ?? null);
  });
  if (!tables.length) main.append(emptyState());
  document.title = tables.length ? `Tidemark: ${plural(tables.length, "source")}` : "Tidemark";
};

const emptyState = () =>
  html(
    "div",
    { class: "empty" },
    html("h2", {}, "No source is running"),
    html("p", {}, "Start a streaming query on a Tidemark source in this application. It appears here with its first batch."),
  );

const overview = (tables) => {
  nav.hidden = tables.length <= FEW_SOURCES;
  const links = tables.map((table) => views.get(table.source).link);
  if (links.length !== nav.children.length || links.some((link, at) => link !== nav.children[at])) nav.replaceChildren(...links);
};

const refresh = async () => {
  const answer = await ask("api/sources");
  arrange(answer.sources);
  const visible = [...views.values()].filter((view) => view.isVisible);
  await Promise.all(visible.map((view) => view.history.refresh(ask)));
  for (const table of answer.sources) views.get(table.source).update(table, answer);
  overview(answer.sources);
  show(answer);
};

const live = async () => {
  if (!isPaused) {
    try {
      await refresh();
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof DOMException || error instanceof SyntaxError)) console.error(error);
      showGone();
    }
  }
  setTimeout(live, EVERY_MS);
};

pause.addEventListener("click", () => {
  isPaused = !isPaused;
  pause.setAttribute("aria-pressed", String(isPaused));
  setText(pause, isPaused ? "Go on" : "Pause");
  if (isPaused) setText(status, answered === null ? "Paused" : `Paused at ${second(answered)}`);
});

live();
