/** The command that opens the workbench as a panel, its places, and its return after a reload. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { NOTHING_CHOSEN } from '../beginnings.js';
import { workbenchIcon } from '../icon.js';
import { IWorkbenchServer } from '../server/plugin.js';
import { Host } from './host.js';
import type { Memory } from './life.js';
import { WorkbenchPanel } from './panel.js';
import { showWorkbench } from './source.js';

const OPEN = 'workbench:open-panel';
const PARAMETER = 'workbench';

type Tracker = WidgetTracker<WorkbenchPanel>;

/** Open the panel of `memory`, or activate and renew the open panel and return undefined. */
async function open(
  app: JupyterFrontEnd,
  tracker: Tracker,
  host: Host,
  memory: Memory | undefined
): Promise<WorkbenchPanel | undefined> {
  if (memory === undefined) {
    // The layout's restorer may restore an earlier panel.
    await app.restored;
  }
  const there = tracker.find(() => true);
  if (there !== undefined) {
    app.shell.activateById(there.id);
    void there.renew();
    return undefined;
  }
  const panel = new WorkbenchPanel(host, memory);
  panel.remembered.connect(() => void tracker.save(panel));
  void tracker.add(panel);
  app.shell.add(panel, 'main', { activate: memory === undefined });
  void (memory === undefined ? panel.open() : panel.resume());
  return panel;
}

/** Return the earlier panel that the arguments name; undefined if a person opens a new one. */
function memoryOf(args: ReadonlyPartialJSONObject): Memory | undefined {
  const text = (key: string) =>
    typeof args[key] === 'string' ? args[key] : undefined;
  const path = text('path');
  return path === undefined
    ? undefined
    : { path, kernel: text('kernel'), modelId: text('modelId') };
}

const ARGUMENTS = {
  path: { type: 'string', description: 'The session of an earlier panel' },
  kernel: { type: 'string', description: 'The name of the kernel' },
  modelId: { type: 'string', description: 'The widget to show' }
};

/** Whether `workbench lab` opened this page; a reload of it is left to the layout's restorer. */
function arrives(): boolean {
  const address = new URL(location.href);
  if (!address.searchParams.has(PARAMETER)) {
    return false;
  }
  address.searchParams.delete(PARAMETER);
  history.replaceState(history.state, '', address);
  return true;
}

function addCommand(app: JupyterFrontEnd, tracker: Tracker, host: Host): void {
  const { trans } = host;
  app.commands.addCommand(OPEN, {
    label: trans.__('Distributed training'),
    caption: trans.__(
      'Train with tf.distribute: pick a strategy, click, watch'
    ),
    icon: args => (args['isPalette'] ? undefined : workbenchIcon),
    describedBy: { args: { type: 'object', properties: ARGUMENTS } },
    execute: args => open(app, tracker, host, memoryOf(args))
  });
}

export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:panel',
  description: 'Opens the workbench as a panel with its own kernel.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [
    ILabShell,
    ILauncher,
    ICommandPalette,
    ILayoutRestorer,
    ITranslator,
    IWorkbenchServer
  ],
  activate: (
    app: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    labShell: ILabShell | null,
    launcher: ILauncher | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null,
    server: IWorkbenchServer | null
  ) => {
    if (labShell === null) {
      // Notebook 7 has one place in the middle, and its notebook is in it.
      return;
    }
    const trans = (translator ?? nullTranslator).load(
      'tf-distribute-workbench'
    );
    const tracker: Tracker = new WidgetTracker({
      namespace: 'workbench-panel'
    });
    const host = new Host(app, rendermime, trans, () =>
      showWorkbench(server?.choices ?? NOTHING_CHOSEN)
    );
    addCommand(app, tracker, host);
    launcher?.add({ command: OPEN, rank: 0 });
    palette?.addItem({
      command: OPEN,
      category: trans.__('Workbench'),
      args: { isPalette: true }
    });
    void restorer?.restore(tracker, {
      command: OPEN,
      name: () => 'panel',
      args: ({ memory }) => ({ ...memory })
    });
    if (arrives()) {
      void app.commands.execute(OPEN);
    }
  }
};
