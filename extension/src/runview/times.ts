/** The use of the time, as a bar and in words: to the first step, and in total. */

import { make } from './elements.js';
import type { Translation } from './language.js';
import type { SnapshotParts, Spans } from './protocol.js';
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

/** Return a number for each phase, in the order of the spans: the same in both bars. */
export function numbersOf(spans: Spans): Map<string, number> {
  const phases = new Set(spans.map(([name]) => phaseOf(name)));
  return new Map([...phases].map((phase, at) => [phase, at + 1]));
}

export class Times {
  readonly node = make('div', 'wbv-times');
  private _shown = '';

  constructor(private readonly _trans: Translation) {}

  show({ ledger }: Partial<SnapshotParts>): void {
    const shown = JSON.stringify(ledger);
    if (ledger === undefined || shown === this._shown) {
      return;
    }
    this._shown = shown;
    const { firstStep, whole, seconds, queueSeconds } = ledger;
    const took = duration(seconds ?? sumOf(whole));
    const waited = queueSeconds
      ? this._trans.__(
          '%1, after %2 in the queue',
          took,
          duration(queueSeconds)
        )
      : took;
    const numbers = numbersOf([...firstStep, ...whole]);
    this.node.replaceChildren(
      ...bar(
        this._trans.__('From the click to the first step'),
        duration(sumOf(firstStep)),
        firstStep,
        numbers
      ),
      ...bar(this._trans.__('The whole run'), waited, whole, numbers)
    );
  }
}

function sumOf(spans: Spans): number {
  return spans.reduce((sum, [, seconds]) => sum + seconds, 0);
}

/** Return a bar with its key; number and colour tell which part of the bar a line of the key means. */
function bar(
  title: string,
  took: string,
  spans: Spans,
  numbers: Map<string, number>
): HTMLElement[] {
  if (!(sumOf(spans) > 0)) {
    return [];
  }
  const parts = make('div', 'wbv-time-bar');
  parts.setAttribute('aria-hidden', 'true');
  const keys = make('ul', 'wbv-time-keys');
  spans.forEach(([name, seconds]) => {
    const phase = phaseOf(name);
    const part = make('div');
    part.style.flexGrow = String(seconds);
    part.title = `${name}: ${duration(seconds)}`;
    const key = make('li', '', `${name} ${duration(seconds)}`);
    for (const shown of [part, key]) {
      shown.dataset.part = phase;
      shown.dataset.number = String(numbers.get(phase));
    }
    parts.append(part);
    keys.append(key);
  });
  return [make('p', 'wbv-time-title', `${title}: ${took}`), parts, keys];
}
