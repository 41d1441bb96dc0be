// The samples of one source, as the driver keeps them: asked for once as a whole, then for what is new.

const MOST_SAMPLES = 600;
const COLUMNS = ["times", "watermark", "max_allowed", "low", "median", "high"];
const ABSENT = "-";

const empty = () => ({ next: 0, splits: new Map(), ...Object.fromEntries(COLUMNS.map((name) => [name, []])) });

const newest = (values) => (values.length > MOST_SAMPLES ? values.slice(-MOST_SAMPLES) : values);

export class History {
  constructor(source) {
    this.source = source;
    this.samples = empty();
  }

  async refresh(ask) {
    const query = new URLSearchParams({ source: this.source, since: String(this.samples.next) });
    const more = await ask(`api/history?${query}`);
    if (more !== null) this.#take(more);
  }

  #take(more) {
    const have = more.start === this.samples.next ? this.samples : empty();
    const length = have.times.length;
    const splits = new Map();
    for (const [name, series] of Object.entries(more.splits)) {
      const old = have.splits.get(name) ?? { watermark: Array(length).fill(null), status: ABSENT.repeat(length) };
      splits.set(name, {
        watermark: newest(old.watermark.concat(series.watermark)),
        status: newest(old.status + series.status),
      });
    }
    const columns = COLUMNS.map((name) => [name, newest(have[name].concat(more[name]))]);
    this.samples = { next: more.next, splits, ...Object.fromEntries(columns) };
  }
}
