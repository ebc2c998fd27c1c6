/** The question to a person whether code that this machine did not start may be executed. */

import { Dialog, showDialog } from '@jupyterlab/apputils';
import {
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { make } from './runview/elements.js';
import type { ForeignCode } from './server/protocol.js';

const DOMAIN = 'tf-distribute-workbench';
const MOST_CHARACTERS = 100_000;

/**
 * Show the code that a resume of a run executes: interpreter, folder, script and their hash. Return
 * whether a person wants to execute it; the default is no.
 */
export async function agree(
  run: string,
  code: ForeignCode,
  trans: TranslationBundle = nullTranslator.load(DOMAIN)
): Promise<boolean> {
  const { button } = await showDialog({
    title: trans.__('Execute the code of %1?', run),
    body: new Widget({ node: question(code, trans) }),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label: trans.__('Execute It') })
    ],
    defaultButton: 0
  });
  return button.accept;
}

function question(code: ForeignCode, trans: TranslationBundle): HTMLElement {
  const rest = code.script.length - MOST_CHARACTERS;
  const shown = make(
    'pre',
    'jp-WorkbenchAgree-script',
    code.script.slice(0, MOST_CHARACTERS)
  );
  shown.tabIndex = 0;
  shown.setAttribute('role', 'region');
  shown.setAttribute('aria-label', trans.__('The script'));
  const more =
    rest > 0
      ? [make('p', '', trans.__('%1 more characters are not shown.', rest))]
      : [];
  return make(
    'div',
    'jp-WorkbenchAgree',
    make(
      'p',
      '',
      trans.__(
        'This machine has not run this code before. It would run with all your permissions. Execute it only if you trust it.'
      )
    ),
    exactly(trans.__('Interpreter: %1', code.interpreter)),
    exactly(
      trans.__('Working directory, with its modules: %1', code.working_dir)
    ),
    exactly(`sha256 ${code.digest}`),
    shown,
    ...more
  );
}

function exactly(text: string): HTMLElement {
  return make('p', 'jp-WorkbenchAgree-exact', text);
}
