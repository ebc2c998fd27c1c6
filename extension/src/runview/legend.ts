/** The names of lines, each a button that hides its line and shows it again. */

import type { Line } from './curves.js';
import { make } from './elements.js';

export class Legend {
  readonly node = make('div', 'wbv-legend');
  /** The names of the hidden lines. */
  readonly hidden = new Set<string>();
  private _named = '';

  /** `changed` is called when a line was hidden or is shown again. */
  constructor(private readonly _changed: () => void) {}

  /** Show the names of these lines; lines with the same name have one button. */
  show(lines: Line[]): void {
    const byName = new Map(lines.map(line => [line.name, line]));
    const named = JSON.stringify([...byName.values()]);
    if (named !== this._named) {
      this._named = named;
      const keys = [...byName.values()].map(line => this._key(line));
      this.node.replaceChildren(...keys);
    }
  }

  private _key(line: Line): HTMLElement {
    const { name } = line;
    const key = make('button', 'wbv-key', sampleOf(line), labelOf(line));
    key.type = 'button';
    key.setAttribute('aria-pressed', String(!this.hidden.has(name)));
    key.addEventListener('click', () => {
      if (!this.hidden.delete(name)) {
        this.hidden.add(name);
      }
      key.setAttribute('aria-pressed', String(!this.hidden.has(name)));
      this._changed();
    });
    return key;
  }
}

/** Return the name of a line with its note. */
export function labelOf({ name, note = '' }: Line): string {
  return name + note;
}

/** A short piece of a line as the charts draw it: a band, a line, a dot. */
export function sampleOf({ color, style }: Line): HTMLElement {
  const { width, dash, points } = style;
  const canvas = make('canvas', 'wbv-sample');
  [canvas.width, canvas.height] = [44, 16];
  canvas.setAttribute('aria-hidden', 'true');
  const pen = canvas.getContext('2d')!;
  pen.strokeStyle = pen.fillStyle = color;
  if (points?.show) {
    pen.arc(22, 8, 6, 0, 2 * Math.PI);
    pen.fill();
  } else if (width === 0) {
    pen.globalAlpha = 0.35;
    pen.fillRect(0, 1, 44, 14);
    return canvas;
  }
  pen.lineWidth = 3 * (width ?? 1);
  pen.setLineDash((dash ?? []).map(part => 2 * part));
  pen.beginPath();
  pen.moveTo(0, 8);
  pen.lineTo(width === 0 ? 0 : 44, 8);
  pen.stroke();
  return canvas;
}
