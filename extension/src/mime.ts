/** Mime types of outputs. */

/** An output that is the view of a widget in the kernel. */
export const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';

export const HTML_MIME = 'text/html';
