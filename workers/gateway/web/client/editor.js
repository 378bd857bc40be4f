// editor.js - the text of the current file: CodeMirror, with Claude's highlights as marks that move with the text.
import { button, el } from './dom.js';

/**
 * @typedef {import('./files.js').OpenFile} OpenFile
 * @typedef {import('./files.js').Files} Files
 * @typedef {import('./pointers.js').Highlight} Highlight
 * @typedef {{highlight: Highlight, clear(): void}} Mark a highlight as it is drawn; `clear` takes it away
 */

const SELECTION_MS = 250;

/** What a style means, in a word. */
const styles = /** @type {Record<string, string>} */ ({ hint: 'Hint', focus: 'Look here', info: 'Note', warning: 'Warning', error: 'Wrong', success: 'Right' });

export class Editor {
  /** @param {Files} files @param {import('./pointers.js').Pointers} pointers @param {import('./connection.js').Connection} connection */
  constructor(files, pointers, connection) {
    this.files = files;
    this.pointers = pointers;
    this.connection = connection;
    /** @type {WeakMap<OpenFile, Mark[]>} */
    this.marks = new WeakMap();
    this.timer = 0;
    this.root = el('div', { class: 'editor' });
    this.mirror = CodeMirror(this.root, {
      lineNumbers: true,
      gutters: ['CodeMirror-linenumbers', 'marks'],
      inputStyle: 'contenteditable',
      screenReaderLabel: 'Editor',
      matchBrackets: true,
      autoCloseBrackets: true,
      styleActiveLine: true,
      // Lines above and below those that are seen: each costs at every key.
      viewportMargin: 3,
      indentUnit: 2,
      // Tab leaves the editor, so that nobody is caught in it; indenting is on Ctrl+] and Ctrl+[.
      extraKeys: { Tab: false, 'Shift-Tab': false, 'Ctrl-]': 'indentMore', 'Ctrl-[': 'indentLess', 'Cmd-]': 'indentMore', 'Cmd-[': 'indentLess' },
    });
    const field = this.mirror.getInputField();
    field.setAttribute('role', 'textbox');
    field.setAttribute('aria-multiline', 'true');
    this.mirror.on('cursorActivity', () => this.moved());
    files.current.watch((file) => this.show(file));
    files.changed.watch(() => {
      const file = files.current.now;
      // Of a file that was deleted the language is known once it is there again.
      if (file && this.mirror.getDoc() === file.doc && this.mirror.getOption('mode') !== file.mode) this.mirror.setOption('mode', file.mode);
      this.mark();
    });
    pointers.changed.watch(() => this.mark());
  }

  /** @param {OpenFile | null} file */
  show(file) {
    const { hidden } = this.root;
    // It is measured, so it has to be seen first.
    this.root.hidden = !file || file.binary;
    if (file && this.mirror.getDoc() !== file.doc) this.mirror.swapDoc(file.doc);
    else if (hidden && !this.root.hidden) this.mirror.refresh();
    this.mirror.setOption('readOnly', file ? file.binary : true);
    this.mark();
  }

  focus() {
    this.mirror.focus();
  }

  /**
   * Shows a line.
   * @param {number} line from 1
   */
  goTo(line) {
    this.mirror.setCursor(line - 1, 0);
    this.mirror.scrollIntoView({ line: line - 1, ch: 0 }, 120);
    this.mirror.focus();
  }

  moved() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.tellSelection(), SELECTION_MS);
  }

  tellSelection() {
    const file = this.files.current.now;
    const selection = this.selection();
    if (!file || !selection) return;
    this.connection.tell('editor:selection', { path: file.path, range: selection.range, textLength: selection.text.length });
  }

  /** What is selected; null when nothing is. */
  selection() {
    const { doc } = this.mirror;
    if (!doc.somethingSelected()) return null;
    const start = doc.getCursor('from');
    const end = doc.getCursor('to');
    return { text: doc.getSelection(), range: { startLine: start.line + 1, startCol: start.ch + 1, endLine: end.line + 1, endCol: end.ch + 1 } };
  }

  /** What there is to explain: the selection, else the line of the cursor. */
  question() {
    const selection = this.selection();
    if (selection) return selection;
    const { line } = this.mirror.getCursor();
    const text = this.mirror.getLine(line) ?? '';
    return { text, range: { startLine: line + 1, startCol: 1, endLine: line + 1, endCol: text.length + 1 } };
  }

  /** Takes the marks out of the current text that no highlight is behind any more, and puts in those that are not there yet. */
  mark() {
    const file = this.files.current.now;
    if (!file) return;
    const wanted = new Set(this.pointers.highlights.get(file.path));
    const kept = [];
    for (const mark of this.marks.get(file) ?? []) {
      if (wanted.delete(mark.highlight)) kept.push(mark);
      else mark.clear();
    }
    this.marks.set(file, [...kept, ...[...wanted].map((highlight) => ({ highlight, clear: this.draw(file, highlight, () => this.dismiss(highlight)) }))]);
  }

  /** @param {Highlight} highlight */
  dismiss(highlight) {
    this.pointers.dismissHighlight(highlight);
    this.focus();
  }

  /** @param {OpenFile} file @param {Highlight} highlight @param {() => void} dismiss @returns {() => void} takes it away */
  draw({ doc }, { start, end, style, hoverText }, dismiss) {
    const known = styles[style] ? style : 'info';
    /** @type {any[]} */
    const lines = [];
    for (let line = start - 1; line < end && line < doc.lineCount(); line += 1) {
      const handle = doc.addLineClass(line, 'background', `mark mark-${known}`);
      this.mirror.setGutterMarker(handle, 'marks', el('span', { class: `gutter gutter-${known}`, title: hoverText ?? styles[known] }));
      lines.push(handle);
    }
    const note = el('div', { class: `note note-${known}`, role: 'note' }, el('strong', {}, styles[known]), el('span', { class: 'note-text' }, hoverText ?? `Lines ${start} to ${end}`), button('Dismiss', dismiss, { class: 'small' }));
    const widget = lines.length ? doc.addLineWidget(lines[lines.length - 1], note, { coverGutter: false, noHScroll: true }) : null;
    return () => {
      widget?.clear();
      for (const handle of lines) {
        doc.removeLineClass(handle, 'background', `mark mark-${known}`);
        this.mirror.setGutterMarker(handle, 'marks', null);
      }
    };
  }
}
