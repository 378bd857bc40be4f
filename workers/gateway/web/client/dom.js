// dom.js - makes elements, also of what Claude wrote. Whatever comes from outside becomes a text node here, never markup.

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, unknown>} Props `class`, `on...` listeners, and attributes; false, null and undefined leave one out.
 */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...nodes(children));
  return node;
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  /** @type {(Node | string)[]} */
  const out = [];
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    out.push(child instanceof Node ? child : String(child));
  }
  return out;
}

/**
 * Puts other children into an element.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

/**
 * A text that changes often: touches the page only when it is another one.
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {string} label
 * @param {() => void} onclick
 * @param {Props} [props]
 */
export function button(label, onclick, props = {}) {
  return el('button', { type: 'button', onclick, ...props }, label);
}

let ids = 0;

/**
 * An id that no other element has.
 * @param {string} stem
 */
export function freshId(stem) {
  ids += 1;
  return `${stem}-${ids}`;
}

/**
 * A region of the page with a heading that names it.
 * @param {string} name
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 */
export function region(name, props = {}, ...children) {
  const id = freshId('region');
  return el('section', { 'aria-labelledby': id, ...props }, el('h2', { id }, name), ...children);
}

/**
 * Draws Markdown. A page that has just begun has none, so what draws it is read later.
 * @type {((text: string) => HTMLElement) | null}
 */
let prose = null;

/**
 * What Claude wrote: as it stands, until it can be drawn as Markdown.
 * @param {string} text
 */
export function written(text) {
  if (prose) return prose(text);
  const plain = el('div', { class: 'prose' }, el('p', { class: 'text' }, text));
  import('./markdown.js').then((module) => {
    prose = module.prose;
    plain.replaceWith(prose(text));
  }).catch(() => null);
  return plain;
}
