/**
 * Return the texts of an element that a reader cannot read in full: cut off, under another text or
 * control, out of their own box, or out of sight in a table that scrolls sideways.
 *
 * Left out are text hidden on purpose (`clip-path`), text that ends with an ellipsis and has a
 * tooltip, and a typed path that ends with an ellipsis.
 */
root => {
  const SLACK = 1; // px
  const SENTENCE = 24; // letters
  const LEFT_OUT = 'style, script, title, option, textarea, pre, .u-over, [inert]';
  const CONTROLS = 'button, input:not([type="hidden"]), select, [role="tab"]';
  const CUTS = ['hidden', 'clip'];
  const found = new Set();
  const brush = document.createElement('canvas').getContext('2d');

  const shown = element =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const say = (fault, text, element) =>
    found.add(`${fault}: "${text.trim().slice(0, 80)}" in ${nameOf(element)}`);
  const nameOf = element =>
    [element.tagName.toLowerCase(), ...element.classList].slice(0, 4).join('.');
  const widthOf = (text, style) => {
    brush.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    return brush.measureText(text).width;
  };
  const common = (one, other) => ({
    left: Math.max(one.left, other.left),
    right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top),
    bottom: Math.min(one.bottom, other.bottom)
  });
  const isEmpty = ({ left, right, top, bottom }) =>
    right - left <= SLACK || bottom - top <= 2 * SLACK;

  /** The element that stays in sight while its surroundings scroll, of which this one is a part. */
  function stuckOf(element) {
    for (let each = element; each; each = each.parentElement) {
      if (['sticky', 'fixed'].includes(getComputedStyle(each).position)) {
        return each;
      }
    }
    return null;
  }

  /**
   * Return the part of an element's box that its ancestors let through; null if there is none, or
   * if it is hidden on purpose. What they hide of a `text` is a fault.
   */
  function inSight(box, element, text = '') {
    for (let each = element; each && each !== document.body; each = each.parentElement) {
      const { clipPath, overflowX, overflowY, textOverflow, webkitLineClamp } =
        getComputedStyle(each);
      if (clipPath !== 'none') {
        return null;
      }
      const edge = each.getBoundingClientRect();
      const across = box.right > edge.right + SLACK || box.left < edge.left - SLACK;
      const down = box.bottom > edge.bottom + SLACK || box.top < edge.top - SLACK;
      if ((across && CUTS.includes(overflowX)) || (down && CUTS.includes(overflowY))) {
        const shortened = textOverflow === 'ellipsis' || webkitLineClamp !== 'none';
        if (text !== '' && !(shortened && element.closest('[title]'))) {
          say('cut off', text, element);
        }
      } else if (across && overflowX !== 'visible' && text.trim().length > SENTENCE) {
        say('out of sight', text, element);
      }
      if (overflowX !== 'visible' || overflowY !== 'visible') {
        box = common(box, edge);
      }
      if (isEmpty(box)) {
        return null;
      }
    }
    return box;
  }

  const boxes = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || element.closest(LEFT_OUT) || !shown(element)) {
      continue;
    }
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      const box = inSight(line, element, node.data);
      if (box) {
        boxes.push({ box, element, text: node.data });
      }
    }
    const own = element.closest('button, th, td, dd, dt, label, p, div, li');
    if (own && root.contains(own) && own.clientWidth > SLACK && !own.closest('svg')) {
      const { overflowX } = getComputedStyle(own);
      if (overflowX === 'visible' && own.scrollWidth > own.clientWidth + SLACK) {
        const edge = own.getBoundingClientRect();
        const lines = [...range.getClientRects()];
        if (lines.some(line => line.right > edge.right + SLACK)) {
          say('wider than its box', node.data, own);
        }
      }
    }
  }

  for (const control of root.querySelectorAll(CONTROLS)) {
    if (!shown(control) || control.closest('[inert]')) {
      continue;
    }
    const style = getComputedStyle(control);
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const room = control.clientWidth - padding;
    if (control.tagName === 'SELECT' && !control.multiple) {
      const text = control.selectedOptions[0]?.label ?? '';
      const arrow = style.appearance === 'none' ? 0 : 16;
      if (widthOf(text, style) > room - arrow + SLACK) {
        say('cut off', text, control);
      }
    } else if (control.tagName === 'INPUT' && ['text', 'number', 'search'].includes(control.type)) {
      const text = control.value || control.placeholder;
      const isPath = control.value.includes('/') && style.textOverflow === 'ellipsis';
      if (widthOf(text, style) > room + SLACK && !control.title && !isPath) {
        say('cut off', text, control);
      }
    }
    const box = inSight(control.getBoundingClientRect(), control);
    if (box) {
      boxes.push({ box, element: control, text: control.innerText || control.ariaLabel || '' });
    }
  }

  boxes.sort((one, other) => one.box.top - other.box.top);
  boxes.forEach((one, at) => {
    for (let next = at + 1; next < boxes.length; next += 1) {
      const other = boxes[next];
      if (other.box.top >= one.box.bottom) {
        break;
      }
      const within = one.element.contains(other.element) || other.element.contains(one.element);
      const apart = stuckOf(one.element) !== stuckOf(other.element); // one scrolls under the other
      if (!within && !apart && !isEmpty(common(one.box, other.box))) {
        const both = [one, other].map(({ text }) => text.trim().slice(0, 30)).join('" and "');
        say('overlap', both, one.element);
      }
    }
  });
  return [...found];
}
