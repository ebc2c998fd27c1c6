/** The controls of the charts: x axis, smoothing, log scale, and visible part. */

import type { Treatment } from './curves.js';
import { button, make, named } from './elements.js';
import { AXES, type Axis } from './series.js';
import { SHARES, spanOf, USUAL, type Amount } from './smoothing.js';

const AXIS_LABELS: Record<Axis, string> = {
  step: 'steps',
  examples: 'examples',
  time: 'training time'
};
const AMOUNTS = Object.keys(SHARES) as Amount[];

/** Ways to move over the x axis. */
export type Move = 'in' | 'out' | 'left' | 'right' | 'all';

const MOVES: [Move, string, string][] = [
  ['left', '◀', 'Move left (Shift+Left)'],
  ['right', '▶', 'Move right (Shift+Right)'],
  ['in', '+', 'Zoom in (+)'],
  ['out', '−', 'Zoom out (-)'],
  ['all', 'All', 'Show all (Escape, or double-click)']
];
const KEYS: Record<string, Move> = {
  '+': 'in',
  '=': 'in',
  '-': 'out',
  Escape: 'all',
  '0': 'all'
};
const SHIFTED: Record<string, Move> = {
  ArrowLeft: 'left',
  ArrowRight: 'right'
};

export class Toolbar {
  readonly node = make('div', 'wbv-toolbar');
  private readonly _axis: HTMLSelectElement;
  private readonly _smoothing: HTMLSelectElement;
  private readonly _logarithmic = make('input');
  private _spans: number[] = [];

  constructor(changed: () => void, move: (move: Move) => void) {
    this._axis = choice(AXES.map(axis => [axis, AXIS_LABELS[axis]]));
    this._smoothing = choice(AMOUNTS.map(name => [name, name]));
    this._smoothing.value = USUAL;
    this._logarithmic.type = 'checkbox';
    for (const control of [this._axis, this._smoothing, this._logarithmic]) {
      control.addEventListener('change', changed);
    }
    const moves = make('span', 'wbv-moves');
    moves.setAttribute('role', 'group');
    moves.setAttribute('aria-label', 'Zoom and move');
    for (const [name, label, tip] of MOVES) {
      const key = button(label, tip, () => move(name));
      key.setAttribute('aria-label', tip);
      moves.append(key);
    }
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', 'Charts');
    this.node.append(
      named('Along', this._axis),
      named('Smoothing', this._smoothing),
      make('label', 'wbv-named', this._logarithmic, ' Loss on a log scale'),
      moves
    );
  }

  /** Smooth over shares of this number of steps. */
  measure(steps: number): void {
    const spans = AMOUNTS.map(name => spanOf(name, steps));
    spans.forEach((span, at) => {
      if (span !== 0 && span !== this._spans[at]) {
        const unit = span === 1 ? 'step' : 'steps';
        const name = AMOUNTS[at]!;
        const label = `${name} (${span.toLocaleString('en')} ${unit})`;
        this._smoothing.options[at]!.text = label;
      }
    });
    this._spans = spans;
  }

  get treatment(): Treatment {
    return {
      axis: this._axis.value as Axis,
      smoothing: this._spans[this._smoothing.selectedIndex] ?? 0,
      logarithmic: this._logarithmic.checked
    };
  }
}

/** Return the move of a key; undefined if it has none. */
export function moveOf(event: KeyboardEvent): Move | undefined {
  if (event.ctrlKey || event.altKey || event.metaKey) {
    return undefined;
  }
  return (event.shiftKey ? SHIFTED[event.key] : undefined) ?? KEYS[event.key];
}

/** A list to choose from; each option a value and its label. */
export function choice(options: [string, string][]): HTMLSelectElement {
  const select = make('select');
  select.append(...options.map(([value, label]) => new Option(label, value)));
  return select;
}
