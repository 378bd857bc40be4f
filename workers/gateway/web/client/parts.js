// parts.js - what several views draw: facts, tables, running countdowns, small lines of figures.
import { el, setText } from './dom.js';
import { countdown } from './format.js';

/**
 * @typedef {Node | string | null} Shown
 * @typedef {[string, Shown]} Fact a name and what it is
 */

const SVG = 'http://www.w3.org/2000/svg';
/** Figures that a small line has room for. */
export const SAMPLES = 60;
const TICK_MS = 500;

/**
 * Names and what they are.
 * @param {Fact[]} list
 */
export function facts(list) {
  return el('dl', { class: 'facts-list' }, list.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

/**
 * A table that scrolls in itself, also by keys. Heads that begin with "#" are of numbers.
 * @param {string} name
 * @param {string[]} heads
 * @param {Node[] | HTMLTableSectionElement} rows
 * @param {{caption?: boolean}} [options]
 */
export function table(name, heads, rows, options) {
  const head = el('tr', {}, heads.map((text) => (text ? el('th', { scope: 'col', class: text.startsWith('#') ? 'number' : null }, text.replace('#', '')) : el('td', {}))));
  return el('div', { class: 'scrolls', tabindex: '0', role: 'group', 'aria-label': name }, el('table', {}, options?.caption && el('caption', {}, name), el('thead', {}, head), rows instanceof HTMLTableSectionElement ? rows : el('tbody', {}, rows)));
}

/** @param {Shown} text */
export function number(text) {
  return el('td', { class: 'number' }, text);
}

/**
 * A word on a ground that has the colour of what it means.
 * @param {'good' | 'bad' | 'warn' | 'info' | 'plain'} kind
 * @param {string} text
 */
export function badge(kind, text) {
  return el('span', { class: `badge ${kind}` }, text);
}

/**
 * A text that counts down to a time, once tick() runs for the page it is in.
 * @param {number | null | undefined} end Unix milliseconds
 * @param {'clock' | 'minutes'} [form] minutes: mm:ss, however many minutes
 */
export function until(end, form = 'clock') {
  return end ? el('span', { class: 'number count', 'data-until': end, 'data-form': form }, countdown(end - Date.now(), form)) : null;
}

/**
 * Has the countdowns of a page run while it is shown.
 * @param {HTMLElement} root
 */
export function tick(root) {
  setInterval(() => {
    if (root.hidden || !root.isConnected) return;
    for (const node of root.querySelectorAll('[data-until]')) setText(node, countdown(Number(node.getAttribute('data-until')) - Date.now(), /** @type {'clock'} */ (node.getAttribute('data-form'))));
  }, TICK_MS);
}

/**
 * A line of the last figures; the figure beside it says the newest in words.
 * @param {number[]} values
 * @param {string} [kind] its class
 */
export function spark(values, kind = 'spark') {
  const svg = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'polyline');
  const top = Math.max(...values, 1);
  svg.setAttribute('viewBox', `0 0 ${SAMPLES} 20`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('class', kind);
  svg.setAttribute('aria-hidden', 'true');
  line.setAttribute('points', values.map((value, i) => `${SAMPLES - values.length + i},${(19 - (value / top) * 18).toFixed(1)}`).join(' '));
  line.setAttribute('vector-effect', 'non-scaling-stroke');
  svg.append(line);
  return svg;
}

/** @param {unknown} error */
export function reason(error) {
  return error instanceof Error ? error.message : String(error);
}
