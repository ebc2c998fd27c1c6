/** The reasons why a panel has no live form, and their explanations. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Failure } from './source.js';

export const MANAGER = '@jupyter-widgets/jupyterlab-manager';

export type PanelError =
  | { kind: 'ended' | 'restarted' | 'closed' | 'unreachable' | 'no kernels' }
  | { kind: 'not started'; error: string }
  | { kind: 'silent'; kernel: string }
  | { kind: 'raised'; kernel: string; failure: Failure }
  | { kind: 'no widgets'; disabled: boolean };

/** An error explained to people: the rule, the finding, the fix; `detail` on request. */
export interface Explanation {
  rule: string;
  found: string;
  fix: string;
  detail?: string;
}

/** What a click does about an error. */
export type Remedy = 'start' | 'connect' | 'reload';

export function remedyFor({ kind }: PanelError): Remedy {
  if (kind === 'unreachable') {
    return 'connect';
  }
  return kind === 'no widgets' || kind === 'no kernels' ? 'reload' : 'start';
}

export function explain(
  error: PanelError,
  trans: TranslationBundle
): Explanation {
  switch (error.kind) {
    case 'raised':
      return raised(error.kernel, error.failure, trans);
    case 'no widgets':
      return noWidgets(error.disabled, trans);
    case 'silent':
      return {
        rule: trans.__('To show the form, the panel runs code in its kernel.'),
        found: trans.__('The kernel "%1" did not show the form.', error.kernel),
        fix: trans.__(
          'Choose a Python kernel that has tf-distribute-workbench.'
        )
      };
    case 'not started':
      return {
        rule: trans.__('The workbench runs in its own kernel.'),
        found: trans.__('The kernel could not be started: %1', error.error),
        fix: trans.__('Try again, or choose another kernel.')
      };
    case 'no kernels':
      return {
        rule: trans.__('The workbench runs in its own Python kernel.'),
        found: trans.__('No kernel is installed on this server.'),
        fix: trans.__(
          'Install a kernel where JupyterLab runs: pip install ipykernel. Then reload the page.'
        )
      };
    case 'unreachable':
      return {
        rule: trans.__('This form needs its kernel on the server.'),
        found: trans.__('The connection to the kernel is lost.'),
        fix: trans.__(
          'JupyterLab tries to reconnect for some minutes. Click Connect now to try immediately. Runs in progress continue.'
        )
      };
    default:
      return {
        rule: trans.__('A workbench needs its own kernel.'),
        found: lost(error.kind, trans),
        fix: trans.__(
          'Start a new workbench. Runs in progress continue, and the new workbench finds them.'
        )
      };
  }
}

function lost(
  kind: 'ended' | 'restarted' | 'closed',
  trans: TranslationBundle
): string {
  return {
    ended: trans.__(
      'The kernel of this workbench no longer exists: it died or was shut down, or the server was restarted.'
    ),
    restarted: trans.__(
      'The kernel of this workbench was restarted, and the form was lost.'
    ),
    closed: trans.__('The workbench was closed in its kernel.')
  }[kind];
}

function raised(
  kernel: string,
  { name, message, traceback }: Failure,
  trans: TranslationBundle
): Explanation {
  if (name === 'ModuleNotFoundError' && /'workbench['.]/.test(message)) {
    return {
      rule: trans.__("The panel's kernel needs tf-distribute-workbench."),
      found: trans.__('The kernel "%1" does not have it: %2.', kernel, message),
      fix: trans.__(
        "Choose a kernel that has it, or install it in that kernel's environment: pip install tf-distribute-workbench"
      )
    };
  }
  return {
    rule: trans.__('To show the form, the panel runs code in its kernel.'),
    found: trans.__('The kernel "%1" raised %2: %3', kernel, name, message),
    fix: trans.__('Fix the error under Details, or choose another kernel.'),
    detail: traceback
  };
}

function noWidgets(disabled: boolean, trans: TranslationBundle): Explanation {
  return {
    rule: trans.__(
      'The form is made of Jupyter widgets, and JupyterLab needs that extension to show them.'
    ),
    found: disabled
      ? trans.__("JupyterLab's extension %1 is disabled here.", MANAGER)
      : trans.__("JupyterLab's extension %1 is not installed here.", MANAGER),
    fix: disabled
      ? trans.__(
          'Enable it where JupyterLab runs: jupyter labextension enable %1. Then reload the page.',
          MANAGER
        )
      : trans.__(
          'Install it where JupyterLab runs: pip install jupyterlab_widgets. Then reload the page.'
        )
  };
}

/** Thrown if a workbench cannot be shown. */
export class Stopped extends Error {
  constructor(readonly error: PanelError) {
    super(error.kind);
  }
}
