/** The colours of a comparison's rows in a notebook: a colour field each, and a reset button. */

import { button, make, setText } from './runview/elements.js';

interface Row {
  label: string;
  usual: string;
}
type Chosen = Record<string, string>;

interface Model {
  get(name: 'rows'): Row[];
  get(name: 'chosen'): Chosen;
  get(name: 'note'): string;
  set(name: 'chosen', value: Chosen): void;
  save_changes(): void;
  on(name: string, changed: () => void): void;
  off(name: string, changed: () => void): void;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const fields = make('div', 'wb-keys');
  const note = make('div', 'wb-quiet');
  const usual = button('Default colours', 'Discard the chosen colours', () =>
    choose({})
  );
  usual.className = 'jupyter-button widget-button wb-small';
  const inputs = new Map<Row, HTMLInputElement>();

  function choose(chosen: Chosen): void {
    model.set('chosen', chosen);
    model.save_changes();
  }

  function drawRows(): void {
    inputs.clear();
    for (const row of model.get('rows')) {
      const input = make('input');
      input.type = 'color';
      input.setAttribute('aria-label', `Colour of ${row.label}`);
      input.addEventListener('change', () =>
        choose({ ...model.get('chosen'), [row.label]: input.value })
      );
      inputs.set(row, input);
    }
    fields.replaceChildren(
      ...[...inputs].map(([row, input]) =>
        make('label', 'wb-color', input, row.label)
      ),
      usual
    );
    drawChosen();
  }

  function drawChosen(): void {
    const chosen = model.get('chosen');
    for (const [row, input] of inputs) {
      input.value = chosen[row.label] ?? row.usual;
    }
    usual.disabled = Object.keys(chosen).length === 0;
  }

  const drawNote = () => setText(note, model.get('note'));
  const handlers = {
    'change:rows': drawRows,
    'change:chosen': drawChosen,
    'change:note': drawNote
  };
  for (const [name, draw] of Object.entries(handlers)) {
    model.on(name, draw);
    draw();
  }
  const fold = make('details', 'wb-colors', make('summary', '', 'Colours'));
  fold.append(fields);
  el.append(fold, note);
  return () => {
    for (const [name, draw] of Object.entries(handlers)) {
      model.off(name, draw);
    }
  };
}

export default { render };
