/** The code that a panel runs in its kernel, and its outcome. Pure. */

import { callOf, importsOf, type Beginnings } from '../beginnings.js';
import { WIDGET_MIME } from '../mime.js';

/** Makes the code that shows a workbench: it must display one widget. */
export type Source = () => string;

/** Return the code that shows the kernel's workbench, if a page lost its panel, or a new one. */
export function showWorkbench(beginnings: Beginnings): string {
  return [
    ...importsOf(beginnings),
    `display(Workbench.newest() or ${callOf(beginnings)})`
  ].join('\n');
}

/** What the kernel raised instead of showing a widget. */
export interface Failure {
  name: string;
  message: string;
  traceback: string;
}

/** The outcome of the code: a widget that it showed, or its failure. */
export type Outcome = { modelId: string } | { failure: Failure };

interface Message {
  header: { msg_type: string };
  content: unknown;
}

// IPython colours its traces as a terminal does.
const COLOURS = /\x1b\[[0-9;]*m/g;

/** Return the outcome that a message of the kernel reports; an empty list if it reports none. */
export function outcomeOf({ header, content }: Message): Outcome[] {
  if (header.msg_type === 'display_data') {
    const { data } = content as { data: Record<string, unknown> };
    const view = data[WIDGET_MIME] as { model_id: string } | undefined;
    return view === undefined ? [] : [{ modelId: view.model_id }];
  }
  if (header.msg_type !== 'error') {
    return [];
  }
  const { ename, evalue, traceback } = content as {
    ename: string;
    evalue: string;
    traceback: string[];
  };
  const trace = traceback.join('\n').replace(COLOURS, '');
  return [{ failure: { name: ename, message: evalue, traceback: trace } }];
}
