/** A chart as an SVG file: its lines, texts, axes and legend. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { drawingOf, type Shown } from '../runview/drawing.js';
import { ENGLISH as trans } from '../runview/language.js';
import { Series } from '../runview/series.js';
import { svgOf } from '../runview/svg.js';
import { decadesOf, scaleOf, ticksOf } from '../runview/ticks.js';
import { buffers, header, NO_EPOCHS, SPEED } from './feeds.js';

function shown(count = 100, more: Partial<Shown> = {}): Shown {
  const series = new Series();
  series.take(header(0), buffers(1, count));
  return {
    run: '20261101-120000-abcd',
    series,
    epochs: { ...NO_EPOCHS, step: [count], testLoss: [0.5] },
    speed: SPEED,
    treatment: { axis: 'step', smoothing: 2, logarithmic: false },
    hidden: new Set(),
    zoom: null,
    trans,
    ...more
  };
}

const count = (text: string, part: string): number =>
  text.split(part).length - 1;

test('it has a white ground, the title, both axes and the legend', () => {
  const { text, width, height } = svgOf(drawingOf('loss', shown()), trans);
  assert.match(
    text,
    /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="760"/
  );
  assert.ok(text.includes('fill="#ffffff"'));
  for (const words of ['Loss<', '>step<', '>loss<', '>virtual replica 1<']) {
    assert.ok(text.includes(words), words);
  }
  assert.ok(text.includes('>all: weighted mean, smoothed over 2 steps<'));
  assert.ok(text.includes('>test, after the epoch<'));
  assert.equal(width, 760);
  assert.ok(height > 420);
});

test('hidden lines are left out, and names are no markup', () => {
  const whole = svgOf(drawingOf('loss', shown()), trans).text;
  const hidden = new Set(['virtual replica 1']);
  const drawing = drawingOf('loss', shown(100, { hidden }));
  const { text } = svgOf(drawing, trans);
  assert.ok(!text.includes('virtual replica 1'));
  assert.ok(count(text, '<path') < count(whole, '<path'));
  assert.ok(
    svgOf({ ...drawing, title: '<b>&' }, trans).text.includes('&lt;b&gt;&amp;')
  );
});

test('gaps stay gaps, and a loss that is no number is marked', () => {
  const known = shown();
  known.series.curve('loss').mean[1]![50] = null;
  known.series.nonfinite.add(50);
  const { text } = svgOf(drawingOf('loss', known), trans);
  assert.ok(/d="M[^"]*M[^"]*" stroke="#d9730d/.test(text));
  assert.equal(count(text, 'stroke-width="2"/>') > 0, true);
  assert.ok(!text.includes('NaN'));
});

test('the visible part and a log scale are drawn as on the page', () => {
  const treatment = { axis: 'time', smoothing: 0, logarithmic: true } as const;
  const zoom = { min: 2, max: 4 };
  const { text } = svgOf(
    drawingOf('loss', shown(100, { treatment, zoom })),
    trans
  );
  assert.ok(text.includes('>training time<'));
  assert.ok(text.includes('>2 s<') && text.includes('>4 s<'));
  assert.ok(!text.includes('>1 s<'));
  assert.ok(text.includes('log scale'));
  assert.ok(!/NaN|Infinity/.test(text));
});

test('a chart of one point, and of many replicas, is a picture too', () => {
  for (const chart of ['loss', 'accuracy', 'rate'] as const) {
    assert.ok(
      !/NaN|Infinity/.test(svgOf(drawingOf(chart, shown(1)), trans).text)
    );
  }
  const series = new Series();
  series.take(header(0, { replicas: 64 }), buffers(1, 3, 65));
  const { text } = svgOf(drawingOf('loss', shown(3, { series })), trans);
  assert.match(text, />and \d+ more</);
});

test('ticks are round and inside the range', () => {
  assert.deepEqual(ticksOf({ min: 0, max: 1 }, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticksOf({ min: 3, max: 98 }, 4), [50]);
  assert.deepEqual(ticksOf({ min: 2, max: 2 }, 4), [2]);
  assert.deepEqual(decadesOf({ min: 0.5, max: 30 }), [0.5, 1, 2, 5, 10, 20]);
  const scale = scaleOf({ min: 1, max: 100 }, 0, 10, true);
  assert.deepEqual([1, 10, 100].map(scale), [0, 5, 10]);
});
