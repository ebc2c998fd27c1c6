/** The controls of the charts: x axis, smoothing, log scale, and visible part. */

import type { Treatment } from './curves.js';
import { button, make, named } from './elements.js';
import type { Translation } from './language.js';
import { AXES, type Axis } from './series.js';
import { SHARES, spanOf, USUAL, type Amount } from './smoothing.js';

const AMOUNTS = Object.keys(SHARES) as Amount[];

/** Ways to move over the x axis. */
export type Move = 'in' | 'out' | 'left' | 'right' | 'all';

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

  constructor(
    changed: () => void,
    move: (move: Move) => void,
    private readonly _trans: Translation
  ) {
    const axes = axesOf(_trans);
    this._axis = choice(AXES.map(axis => [axis, axes[axis]]));
    const amounts = amountsOf(_trans);
    this._smoothing = choice(AMOUNTS.map(name => [name, amounts[name]]));
    this._smoothing.value = USUAL;
    this._logarithmic.type = 'checkbox';
    for (const control of [this._axis, this._smoothing, this._logarithmic]) {
      control.addEventListener('change', changed);
    }
    const moves = make('span', 'wbv-moves');
    moves.setAttribute('role', 'group');
    moves.setAttribute('aria-label', _trans.__('Zoom and move'));
    for (const [name, label, tip] of movesOf(_trans)) {
      const key = button(label, tip, () => move(name));
      key.setAttribute('aria-label', tip);
      moves.append(key);
    }
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', _trans.__('Charts'));
    this.node.append(
      named(_trans.__('X axis'), this._axis),
      named(_trans.__('Smoothing'), this._smoothing),
      make(
        'label',
        'wbv-named',
        this._logarithmic,
        ` ${_trans.__('Loss on a log scale')}`
      ),
      moves
    );
  }

  /** Smooth over shares of this number of steps. */
  measure(steps: number): void {
    const spans = AMOUNTS.map(name => spanOf(name, steps));
    spans.forEach((span, at) => {
      if (span !== 0 && span !== this._spans[at]) {
        this._smoothing.options[at]!.text = this._trans._n(
          '%2 (%3 step)',
          '%2 (%3 steps)',
          span,
          amountsOf(this._trans)[AMOUNTS[at]!],
          span.toLocaleString('en')
        );
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

function axesOf(trans: Translation): Record<Axis, string> {
  return {
    step: trans.__('steps'),
    examples: trans.__('examples'),
    time: trans.__('training time')
  };
}

function amountsOf(trans: Translation): Record<Amount, string> {
  return {
    none: trans.__('none'),
    light: trans.__('light'),
    medium: trans.__('medium'),
    heavy: trans.__('heavy')
  };
}

/** Return each move with its label and its tip. */
function movesOf(trans: Translation): [Move, string, string][] {
  return [
    ['left', '◀', trans.__('Move left (Shift+Left)')],
    ['right', '▶', trans.__('Move right (Shift+Right)')],
    ['in', '+', trans.__('Zoom in (+)')],
    ['out', '−', trans.__('Zoom out (-)')],
    ['all', trans.__('All'), trans.__('Show all (Escape, or double-click)')]
  ];
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
