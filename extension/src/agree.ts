/** The question to a person whether a script that this machine did not start may be executed. */

import { Dialog, showDialog } from '@jupyterlab/apputils';
import {
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { make } from './runview/elements.js';
import type { Requests } from './server/requests.js';

const DOMAIN = 'tf-distribute-workbench';
const MOST_CHARACTERS = 100_000;

/**
 * Show a run's script and its hash, and return whether a person wants to execute it; the default
 * is no.
 *
 * @throws Error if the script no longer has this hash.
 */
export async function agree(
  requests: Requests,
  run: string,
  sha256: string,
  trans: TranslationBundle = nullTranslator.load(DOMAIN)
): Promise<boolean> {
  const script = await requests.script(run, 'py');
  if (script.sha256 !== sha256) {
    throw new Error(
      trans.__('The script of %1 has just changed; ask again.', run)
    );
  }
  const { button } = await showDialog({
    title: trans.__('Execute the script of %1?', run),
    body: new Widget({ node: question(script.text, sha256, trans) }),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label: trans.__('Execute It') })
    ],
    defaultButton: 0
  });
  return button.accept;
}

function question(
  text: string,
  sha256: string,
  trans: TranslationBundle
): HTMLElement {
  const rest = text.length - MOST_CHARACTERS;
  const shown = make(
    'pre',
    'jp-WorkbenchAgree-script',
    text.slice(0, MOST_CHARACTERS)
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
        'This machine has never started the script in its present form. It would run with all your permissions. Execute it only if you trust it.'
      )
    ),
    make('p', 'jp-WorkbenchAgree-hash', `sha256 ${sha256}`),
    shown,
    ...more
  );
}
