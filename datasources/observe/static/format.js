// Times, durations and numbers as people read them. Times are ms since the epoch; null is shown as a dash.

export const NONE = "–";
export const END_OF_TIME = 253402300799999; // the watermark of a finished source

const UNITS = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1_000]];
const WHOLE_FROM = 10_000;
const NUMBERS = new Intl.NumberFormat("en-US");
const BY_NAME = new Intl.Collator("en", { numeric: true });

export const byName = BY_NAME.compare;

export const time = (ms) => {
  if (ms === null) return NONE;
  if (ms >= END_OF_TIME) return "end of input";
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
};

export const second = (ms) => time(ms).replace(/\.\d+Z$/, "Z");

// Two units at most: 340 ms, 4.2 s, 12 s, 4 min 5 s, 3 h 12 min, 5 d 4 h.
export const duration = (ms) => {
  if (ms === null) return NONE;
  if (ms < 0) return `−${duration(-ms)}`;
  if (ms < 1_000) return `${ms} ms`;
  if (ms < WHOLE_FROM) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const at = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[at];
  const first = `${Math.floor(ms / size)} ${unit}`;
  if (at === UNITS.length - 1) return first;
  const [nextUnit, nextSize] = UNITS[at + 1];
  const rest = Math.floor((ms % size) / nextSize);
  return rest ? `${first} ${rest} ${nextUnit}` : first;
};

// A lag behind the clock; a finished source is not behind.
export const lag = (ms, watermark) => (watermark !== null && watermark >= END_OF_TIME ? NONE : duration(ms));

export const count = (number) => (number === null ? NONE : NUMBERS.format(number));

export const shortened = (text, most) => {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(-tail)}`;
};

export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
