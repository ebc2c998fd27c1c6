/** A panel of the main area that is there once for what it shows. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { WidgetTracker } from '@jupyterlab/apputils';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

interface Panel extends Widget {
  /** What it shows, or how it is called, is another. */
  readonly changed: ISignal<Widget, void>;
}

/** Go to the panel that already shows it, or make one; it is saved for a reload when it changes. */
export function show<T extends Panel>(
  app: JupyterFrontEnd,
  tracker: WidgetTracker<T>,
  showsIt: (panel: T) => boolean,
  make: () => T
): T {
  const there = tracker.find(showsIt);
  const panel = there ?? make();
  if (there === undefined) {
    panel.changed.connect(() => void tracker.save(panel));
    void tracker.add(panel);
    app.shell.add(panel, 'main');
  }
  app.shell.activateById(panel.id);
  return panel;
}
