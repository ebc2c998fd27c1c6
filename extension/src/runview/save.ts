/** Saves a chart as a file, without the network: SVG, or PNG made from it. */

import { make } from './elements.js';
import type { Translation } from './language.js';
import type { Drawing } from './plot.js';
import { svgOf, type Picture } from './svg.js';

const SVG_TYPE = 'image/svg+xml';
const SHARPNESS = 2;
const KEEP_MS = 60_000;

/** Return the two buttons that save a chart. */
export function saveButtons(
  drawing: () => Drawing | null,
  trans: Translation
): HTMLElement {
  const formats: [string, (picture: Picture) => Promise<Blob>][] = [
    ['PNG', pngOf],
    ['SVG', async ({ text }) => new Blob([text], { type: SVG_TYPE })]
  ];
  const keys = formats.map(([format, made]) => {
    const key = make('button', 'wbv-save', format);
    key.type = 'button';
    key.title = trans.__('Download this chart as %1', format);
    key.addEventListener('click', () => {
      const chart = drawing();
      if (chart !== null) {
        const name = `${chart.file}.${format.toLowerCase()}`;
        void made(svgOf(chart, trans)).then(blob => save(blob, name));
      }
    });
    return key;
  });
  return make('span', 'wbv-saves', ...keys);
}

async function pngOf({ text, width, height }: Picture): Promise<Blob> {
  const image = new Image();
  image.src = `data:${SVG_TYPE};charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = make('canvas');
  [canvas.width, canvas.height] = [SHARPNESS * width, SHARPNESS * height];
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise(done => canvas.toBlob(blob => done(blob!), 'image/png'));
}

function save(blob: Blob, name: string): void {
  const link = make('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), KEEP_MS);
}
