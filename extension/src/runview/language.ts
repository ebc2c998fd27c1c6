/** The language of a page. Pages without a translator, such as those of notebooks, show English. */

/** Translates texts: the part of JupyterLab's translation bundle that the run view needs. */
export interface Translation {
  /** Return a text, with `values` in the places of %1, %2 and so on. */
  __(text: string, ...values: unknown[]): string;
  /** Return the text for a number, which is %1; the first of `values` is %2. */
  _n(one: string, many: string, count: number, ...values: unknown[]): string;
}

/** The texts as they are written. */
export const ENGLISH: Translation = {
  __: filled,
  _n: (one, many, count, ...values) =>
    filled(count === 1 ? one : many, count, ...values)
};

function filled(text: string, ...values: unknown[]): string {
  return text.replace(/%(\d)/g, (_, place) => String(values[place - 1]));
}
