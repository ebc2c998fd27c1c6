/** The scale of an axis: from values to pixels, with its ticks. Pure. */

import type { Range } from './plot.js';

/** Return the place of a value, in pixels. */
export type Scale = (value: number) => number;

/** Map values to pixels, from the value at `from` to the value at `to`. */
export function scaleOf(
  { min, max }: Range,
  from: number,
  to: number,
  logarithmic = false
): Scale {
  const at = logarithmic ? Math.log10 : (value: number) => value;
  const [first, width] = [at(min), at(max) - at(min) || 1];
  return value => from + ((at(value) - first) / width) * (to - from);
}

/** Return about `count` round values in a range. */
export function ticksOf({ min, max }: Range, count: number): number[] {
  const rough = (max - min) / count;
  if (!(rough > 0)) {
    return [min];
  }
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough)!;
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) =>
    Number(((first + at) * step).toPrecision(12))
  );
}

/** Return the powers of ten in a range; in a narrow one, also values between them. */
export function decadesOf(all: Range): number[] {
  const { min, max } = all;
  const first = Math.floor(Math.log10(min));
  const last = Math.ceil(Math.log10(max));
  const factors = Math.log10(max / min) > 2.5 ? [1] : [1, 2, 5];
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    .flatMap(power => factors.map(factor => Number(`${factor}e${power}`)))
    .filter(tick => tick >= min && tick <= max);
  return ticks.length > 1 ? ticks : ticksOf(all, 5);
}
