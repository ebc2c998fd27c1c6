/** Meters of the use of devices: a name, a bar and a text each; drawn once, then updated. */

import { make, setText } from './runview/elements.js';

/** One meter: how much of a device is in use. */
export interface Meter {
  name: string;
  /** In use, 0 to 1; null if it is unknown. */
  share: number | null;
  text: string;
}

/** Classes of the list, of a line in it, and of a bar. */
export interface MeterClasses {
  list: string;
  line: string;
  bar: string;
}

const OF_A_METER = ['role', 'aria-label', 'aria-valuenow', 'aria-valuetext'];

/** A line keeps its height when its share becomes unknown, so that nothing below it moves. */
export class Meters {
  readonly node: HTMLElement;
  private _lines: Line[] = [];

  constructor(private readonly _classes: MeterClasses) {
    this.node = make('dl', _classes.list);
  }

  show(meters: Meter[]): void {
    if (meters.length !== this._lines.length) {
      this._lines = meters.map(() => new Line(this._classes));
      this.node.replaceChildren(...this._lines.map(({ node }) => node));
    }
    meters.forEach((meter, at) => this._lines[at]!.show(meter));
  }
}

class Line {
  readonly node: HTMLElement;
  private readonly _name = make('dt');
  private readonly _text = make('span');
  private readonly _filled = make('span');
  private readonly _bar: HTMLElement;

  constructor({ line, bar }: MeterClasses) {
    this._bar = make('span', bar, this._filled);
    const use = make('dd', '', this._bar, this._text);
    this.node = make('div', line, this._name, use);
  }

  show({ name, share, text }: Meter): void {
    setText(this._name, name);
    setText(this._text, text);
    this._text.title = text;
    this._filled.style.width = `${(100 * (share ?? 0)).toFixed(1)}%`;
    if (share === null) {
      for (const attribute of OF_A_METER) {
        this._bar.removeAttribute(attribute);
      }
      return;
    }
    this._bar.setAttribute('role', 'meter');
    this._bar.setAttribute('aria-label', name);
    this._bar.setAttribute('aria-valuenow', String(Math.round(100 * share)));
    this._bar.setAttribute('aria-valuetext', text);
  }
}
