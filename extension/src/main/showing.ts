/** Panels of the main area: one for each run or comparison. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { WidgetTracker } from '@jupyterlab/apputils';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

interface Panel extends Widget {
  /** Emitted when its content or title changes. */
  readonly changed: ISignal<Widget, void>;
}

/** Activate the panel that already shows it, or make one, which is saved for a reload. */
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
