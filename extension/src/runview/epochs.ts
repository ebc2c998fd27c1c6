/** The table of the epochs: the results of training and test at the end of each. */

import { make, scrollToEnd, table } from './elements.js';
import type { Epochs } from './protocol.js';
import { percent, significant } from './words.js';

export class EpochsTable {
  readonly node = make('details', 'wbv-fold', make('summary', '', 'Epochs'));
  private readonly _place = make('div', 'wbv-epochs');

  constructor() {
    this._place.tabIndex = 0;
    this._place.setAttribute('role', 'region');
    this._place.setAttribute('aria-label', 'Results of the epochs');
    this.node.append(this._place);
    this.node.open = true;
    this.node.hidden = true;
  }

  /** Show these epochs, if there are any; a reader of the newest ones sees the next ones too. */
  show(epochs: Epochs): void {
    const { scrollTop, clientHeight, scrollHeight } = this._place;
    const atEnd = scrollTop + clientHeight >= scrollHeight - 4;
    this._place.replaceChildren(tableOf(epochs));
    this.node.hidden = epochs.step.length === 0;
    if (atEnd) {
      scrollToEnd(this._place);
    }
  }
}

function tableOf(epochs: Epochs): HTMLElement {
  const metrics = Object.entries(epochs.metrics ?? {});
  const rows = epochs.step.map((step, at) => [
    String(epochs.epoch[at]),
    step.toLocaleString('en'),
    known(epochs.loss[at], significant),
    known(epochs.accuracy[at], percent),
    known(epochs.testLoss[at], significant),
    known(epochs.testAccuracy[at], percent),
    ...metrics.map(([, values]) => known(values[at], significant))
  ]);
  const names = [
    'Epoch',
    'Step',
    'Loss',
    'Accuracy',
    'Test loss',
    'Test accuracy',
    ...metrics.map(([name]) => name)
  ];
  return table('Train and test of each epoch', names, rows, 0);
}

function known(
  value: number | null | undefined,
  format: (value: number) => string
): string {
  return value === null || value === undefined ? 'unknown' : format(value);
}
