/** Texts without translation: JupyterLab's own modules do not load outside of a page. */

function filled(text: string, ...values: unknown[]): string {
  return text.replace(/%(\d)/g, (_, place) => String(values[place - 1]));
}

export const untranslated = {
  __: filled,
  _n: (one: string, many: string, count: number, ...more: unknown[]) =>
    filled(count === 1 ? one : many, count, ...more)
};
