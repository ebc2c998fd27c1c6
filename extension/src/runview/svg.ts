/** A chart as the text of an SVG file: the same drawing as on the page, on white. Pure. */

import { isEdge } from './curves.js';
import type { Translation } from './language.js';
import { labelOf } from './legend.js';
import { acrossText, axisName, range, upwardText } from './plotOptions.js';
import type { Drawing, Range } from './plot.js';
import type { Chart, Values } from './series.js';
import { decadesOf, scaleOf, ticksOf, type Scale } from './ticks.js';

export const SIZE = { width: 760, height: 420 };
const BOX = { left: 78, right: 740, top: 52, bottom: 360 };
const KEY = { height: 18, sample: 24, letter: 6.3, most: 24 };
const [INK, MUTED, GRID] = ['#1f2328', '#59636e', '#d8dee4'];
const BROKEN_COLOR = '#e0484f';

/** A chart as SVG, and its size. */
export interface Picture {
  text: string;
  width: number;
  height: number;
}

type Points = Values | (number | null | undefined)[];

/** A line that is shown, with its values. */
interface Shown {
  line: Drawing['lines'][number];
  values: Points;
}

/** Return the visible part of a chart as SVG, with its title, axes and legend. */
export function svgOf(drawing: Drawing, trans: Translation): Picture {
  const { data, lines, hidden, style, zoom } = drawing;
  const across = data[0] as number[];
  const shown = lines
    .map((line, at): Shown => ({ line, values: data[at + 1] as Points }))
    .filter(({ line }) => !hidden.has(line.name));
  const first = across[0] ?? 0;
  const wide = zoom ?? { min: first, max: across.at(-1) ?? first };
  const x = scaleOf(wide, BOX.left, BOX.right);
  const high = heights(across, wide, shown, drawing);
  const { logarithmic } = style.treatment;
  const y = scaleOf(high, BOX.bottom, BOX.top, logarithmic);
  const curves = [
    ...(style.spread ? [band(across, shown, x, y)] : []),
    ...shown.map(each => curve(across, each, style.few, x, y)),
    ...marks(across, drawing.nonfinite, x)
  ];
  const keys = legend(shown, trans);
  const height = SIZE.height + keys.height;
  const text = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE.width}" height="${height}" viewBox="0 0 ${SIZE.width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<clipPath id="box"><rect x="${BOX.left - 4}" y="${BOX.top - 4}" width="${BOX.right - BOX.left + 8}" height="${BOX.bottom - BOX.top + 8}"/></clipPath>`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    heading(drawing),
    ...axes(drawing, wide, high, x, y, trans),
    `<g clip-path="url(#box)" fill="none" stroke-linejoin="round">${curves.join('')}</g>`,
    keys.text,
    '</svg>'
  ].join('\n');
  return { text, width: SIZE.width, height };
}

/** Return the range of the y axis, for the visible values. */
function heights(
  across: number[],
  { min, max }: Range,
  shown: Shown[],
  { style }: Drawing
): Range {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of shown) {
    across.forEach((at, point) => {
      const value = values[point];
      if (typeof value === 'number' && at >= min && at <= max) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    });
  }
  if (style.treatment.logarithmic) {
    return low > 0 && low < Infinity
      ? { min: low / 1.2, max: high * 1.2 }
      : { min: 0.1, max: 1 };
  }
  const ends = range(low, high, style.chart === 'rate');
  return { min: ends[0], max: ends[1] };
}

function heading({ title, remark }: Drawing): string {
  const more = remark
    ? `<tspan dx="10" font-size="12" font-weight="400" fill="${MUTED}">${escaped(remark)}</tspan>`
    : '';
  return `<text x="16" y="28" font-size="15" font-weight="600" fill="${INK}">${escaped(title)}${more}</text>`;
}

function axes(
  { style }: Drawing,
  wide: Range,
  high: Range,
  x: Scale,
  y: Scale,
  trans: Translation
): string[] {
  const { chart, treatment, synchronous } = style;
  const up = treatment.logarithmic ? decadesOf(high) : ticksOf(high, 6);
  const middle = (BOX.top + BOX.bottom) / 2;
  return [
    ...ticksOf(wide, 7).map(tick => {
      const at = round(x(tick));
      return `<path d="M${at} ${BOX.top}V${BOX.bottom}" stroke="${GRID}"/>${words(at, BOX.bottom + 18, 'middle', acrossText(tick, treatment.axis))}`;
    }),
    ...up.map(tick => {
      const at = round(y(tick));
      return `<path d="M${BOX.left} ${at}H${BOX.right}" stroke="${GRID}"/>${words(BOX.left - 8, at + 4, 'end', upwardText(tick, chart === 'accuracy'))}`;
    }),
    words(
      (BOX.left + BOX.right) / 2,
      BOX.bottom + 40,
      'middle',
      axisName(treatment.axis, synchronous, trans)
    ),
    `<g transform="translate(20 ${middle}) rotate(-90)">${words(0, 0, 'middle', valueName(chart, trans))}</g>`
  ];
}

/** Return the name of the y axis. */
function valueName(chart: Chart, trans: Translation): string {
  return {
    loss: trans.__('loss'),
    accuracy: trans.__('accuracy'),
    rate: trans.__('examples per second')
  }[chart];
}

/** Return the band between the first two lines. */
function band(across: number[], shown: Shown[], x: Scale, y: Scale): string {
  const [low, high] = shown
    .filter(({ line }) => isEdge(line))
    .map(({ values }) => values);
  const pieces: number[][] = [[]];
  across.forEach((_, point) => {
    const known =
      typeof low?.[point] === 'number' && typeof high?.[point] === 'number';
    if (known) {
      pieces.at(-1)!.push(point);
    } else if (pieces.at(-1)!.length > 0) {
      pieces.push([]);
    }
  });
  return pieces
    .filter(points => points.length > 1)
    .map(points => {
      const place = (row: Points) => (point: number) =>
        `${round(x(across[point]!))} ${round(y(row[point]!))}`;
      const around = [
        ...points.map(place(low!)),
        ...[...points].reverse().map(place(high!))
      ];
      return `<path d="M${around.join('L')}Z" fill="#7a828c" fill-opacity="0.22"/>`;
    })
    .join('');
}

function curve(
  across: number[],
  { line, values }: Shown,
  few: boolean,
  x: Scale,
  y: Scale
): string {
  const { width = 1, dash = [], points, spanGaps } = line.style;
  const places: string[] = [];
  let path = '';
  let gap = true;
  across.forEach((at, point) => {
    const value = values[point];
    if (typeof value === 'number') {
      const place = `${round(x(at))} ${round(y(value))}`;
      path += `${gap ? 'M' : 'L'}${place}`;
      places.push(place);
      gap = false;
    } else {
      gap ||= value === null && !spanGaps;
    }
  });
  const size = points?.size ?? 4;
  const dots =
    points?.show || (few && !isEdge(line))
      ? `<path d="${places.map(place => `M${place}h0`).join('')}" stroke="${line.color}" stroke-width="${size}" stroke-linecap="round"/>`
      : '';
  const stroke =
    width > 0 && path
      ? `<path d="${path}" stroke="${line.color}" stroke-width="${width}" stroke-dasharray="${dash.join(' ')}"/>`
      : '';
  return stroke + dots;
}

/** Mark where a value was no number. */
function marks(
  across: number[],
  nonfinite: ReadonlySet<number>,
  x: Scale
): string[] {
  return [...nonfinite].map(
    point =>
      `<path d="M${round(x(across[point]!))} ${BOX.top}V${BOX.bottom}" stroke="${BROKEN_COLOR}" stroke-width="2"/>`
  );
}

/** Return the names of the lines in rows, of many only the first ones. */
function legend(
  shown: Shown[],
  trans: Translation
): { text: string; height: number } {
  const all = [...new Map(shown.map(({ line }) => [line.name, line])).values()];
  const more = all.length - KEY.most;
  let [left, top] = [BOX.left, SIZE.height];
  const place = (label: string, sample: string): string => {
    const width = KEY.sample + 24 + KEY.letter * label.length;
    if (left + width > BOX.right && left > BOX.left) {
      [left, top] = [BOX.left, top + KEY.height];
    }
    const key = `<g transform="translate(${round(left)} ${top})">${sample}${words(KEY.sample + 6, 4, 'start', label)}</g>`;
    left += width;
    return key;
  };
  const keys = all
    .slice(0, KEY.most)
    .map(line => place(labelOf(line), sampleOf(line)));
  const rest = more > 0 ? [place(trans.__('and %1 more', more), '')] : [];
  return {
    text: [...keys, ...rest].join('\n'),
    height: top - SIZE.height + 14
  };
}

function sampleOf(line: Shown['line']): string {
  const { color, style } = line;
  const { width = 1, dash = [], points } = style;
  if (isEdge(line)) {
    return `<rect y="-5" width="${KEY.sample}" height="10" fill="#7a828c" fill-opacity="0.35"/>`;
  }
  const dot = points?.show
    ? `<circle cx="${KEY.sample / 2}" r="3" fill="${color}"/>`
    : '';
  const stroke =
    width > 0
      ? `<path d="M0 0H${KEY.sample}" stroke="${color}" stroke-width="${width}" stroke-dasharray="${dash.join(' ')}"/>`
      : '';
  return stroke + dot;
}

function words(x: number, y: number, anchor: string, text: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${MUTED}">${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
