/** The names of saved views, which `saved_output.py` writes. Pure: no Jupyter, no page. */

const VIEW = /<div class="wb-snapshot (wb-snapshot-\w+)">/;

/** The name of the saved view that an output's HTML holds; null if it holds none. */
export function savedViewOf(html: unknown): string | null {
  return typeof html === 'string' ? (VIEW.exec(html)?.[1] ?? null) : null;
}
