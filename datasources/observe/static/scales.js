// Values to pixels, and where to put the ticks of a time axis.

const S = 1_000;
const MIN = 60 * S;
const H = 60 * MIN;
const D = 24 * H;
const STEPS = [
  100, 200, 500, S, 2 * S, 5 * S, 10 * S, 15 * S, 30 * S, MIN, 2 * MIN, 5 * MIN, 10 * MIN, 15 * MIN, 30 * MIN,
  H, 2 * H, 3 * H, 6 * H, 12 * H, D, 2 * D, 7 * D, 14 * D, 28 * D, 56 * D, 112 * D, 364 * D, 3_640 * D,
];

export const scale = (low, high, start, end) => {
  const at = (value) => Math.round((start + ((value - low) / (high - low)) * (end - start)) * 10) / 10;
  return Object.assign(at, { low, high, invert: (pixel) => low + ((pixel - start) / (end - start)) * (high - low) });
};

export const ticks = ({ low, high }, most) => {
  const span = high - low;
  const step = STEPS.find((candidate) => span / candidate <= most) ?? span / Math.max(1, most);
  const values = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) values.push(value);
  return values.map((value) => ({ value, text: tickText(value, step, span) }));
};

const tickText = (value, step, span) => {
  const iso = new Date(value).toISOString();
  if (step >= D) return iso.slice(0, 10);
  if (span > D) return iso.slice(5, 16).replace("T", " ");
  if (step >= MIN) return iso.slice(11, 16);
  return step >= S ? iso.slice(11, 19) : iso.slice(11, 22);
};
