// code_text.js - what Claude wrote, for people: paragraphs, with pieces of code set off. Only code is recognised of Markdown; all the
// rest is shown as it was written, and nothing becomes markup of its own.
import { el } from './dom.js';

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * Words with `code` among them.
 * @param {string} text
 */
function inline(text) {
  return text.split(/(`[^`\n]+`)/).map((part) => (part.length > 2 && part.startsWith('`') && part.endsWith('`') ? el('code', {}, part.slice(1, -1)) : part));
}

/**
 * @param {string} text
 * @returns {HTMLElement}
 */
export function prose(text) {
  const root = el('div', { class: 'prose' });
  /** @type {string[]} */
  let lines = [];
  let fence = '';
  const end = () => {
    const piece = lines.join('\n');
    lines = [];
    if (fence) root.append(el('pre', { tabindex: '0', role: 'group', 'aria-label': 'Code' }, el('code', {}, piece)));
    else if (piece.trim()) root.append(el('p', { class: 'text' }, inline(piece.replace(/^\n+|\s+$/g, ''))));
  };
  for (const line of text.split('\n')) {
    const mark = FENCE.exec(line)?.[1] ?? '';
    const closes = fence && mark.startsWith(fence) && line.trim() === mark;
    if (!closes && (fence || !mark)) {
      lines.push(line);
      continue;
    }
    end();
    fence = fence ? '' : mark;
  }
  end();
  return root;
}
