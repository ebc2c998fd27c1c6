/** The use of the time, as a bar and in words: to the first step, and in total. */

import { make } from './elements.js';
import type { Translation } from './language.js';
import type { Account, Spans } from './protocol.js';
import { duration } from './words.js';

const PHASES: Record<string, string> = {
  'start-up': 'start',
  'first step': 'steps'
};

/** Return the phase of a span: the same in both bars, without a note such as `(forked)`. */
export function phaseOf(name: string): string {
  const plain = name.replace(/ \(.*\)$/, '');
  return PHASES[plain] ?? plain;
}

export class Times {
  readonly node = make('div', 'wbv-times');
  private _shown = '';

  constructor(private readonly _trans: Translation) {}

  show({ ledger }: Partial<Account>): void {
    const shown = JSON.stringify(ledger);
    if (ledger === undefined || shown === this._shown) {
      return;
    }
    this._shown = shown;
    this.node.replaceChildren(
      ...bar(
        this._trans.__('From the click to the first step'),
        ledger.firstStep
      ),
      ...bar(this._trans.__('The whole run'), ledger.whole)
    );
  }
}

function bar(title: string, spans: Spans): HTMLElement[] {
  const total = spans.reduce((sum, [, seconds]) => sum + seconds, 0);
  if (!(total > 0)) {
    return [];
  }
  const parts = make('div', 'wbv-time-bar');
  parts.setAttribute('aria-hidden', 'true');
  const keys = make('ul', 'wbv-time-keys');
  spans.forEach(([name, seconds]) => {
    const part = make('div');
    part.style.flexGrow = String(seconds);
    part.dataset.part = phaseOf(name);
    part.title = `${name}: ${duration(seconds)}`;
    parts.append(part);
    const key = make('li', '', `${name} ${duration(seconds)}`);
    key.dataset.part = phaseOf(name);
    keys.append(key);
  });
  return [
    make('p', 'wbv-time-title', `${title}: ${duration(total)}`),
    parts,
    keys
  ];
}
