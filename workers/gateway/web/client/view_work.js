// view_work.js - the Work view: files, editor and coach side by side.
import { coachColumn } from './coach.js';
import { button, el, fill, setText } from './dom.js';
import { Editor } from './editor.js';
import { Files } from './files.js';
import { Pointers } from './pointers.js';
import { Tree } from './tree.js';
import { TreeModel } from './tree_model.js';
import { Restorer } from './unsaved.js';

/**
 * @typedef {import('./files.js').OpenFile} OpenFile
 * @typedef {import('./main.js').App} App
 */

const IDLE_MS = 120000;
const EXPLAIN_MS = 180000;

/** @param {string} path */
function nameOf(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** @param {string} path */
function addressOf(path) {
  return `#/work/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * The state of a file in a word.
 * @param {OpenFile} file
 */
function stateOf(file) {
  if (file.conflict) return 'conflict';
  if (file.missing) return 'deleted';
  if (file.saving) return 'saving';
  return file.dirty ? 'unsaved' : '';
}

/** @param {Files} files */
function tabs(files) {
  const list = el('div', { class: 'tabs', role: 'group', 'aria-label': 'Open files' });
  let shown = '';
  files.changed.watch(() => {
    const now = JSON.stringify([...files.open.values()].map((file) => [file.path, stateOf(file), file === files.current.now]));
    if (now === shown) return;
    shown = now;
    fill(list, [...files.open.values()].map((file) => tab(files, file)));
    list.querySelector('.current')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  return list;
}

/** @param {Files} files @param {OpenFile} file */
function tab(files, file) {
  const current = file === files.current.now;
  const state = stateOf(file);
  const close = () => {
    if (!file.dirty || window.confirm(`${file.path} has unsaved changes. Close it without saving?`)) files.close(file);
  };
  return el(
    'span',
    { class: `tab${current ? ' current' : ''}` },
    el('a', { href: addressOf(file.path), class: 'tab-name', title: file.path, 'aria-current': current ? 'page' : null }, nameOf(file.path), state && el('span', { class: `tab-state ${state}` }, ` ${state}`)),
    el('button', { type: 'button', class: 'tab-close', 'aria-label': `Close ${file.path}`, onclick: close }, '×'),
  );
}

/**
 * How a file differs from the disk, as soon as that can be drawn.
 * @param {OpenFile} file
 */
function compared({ disk, text }) {
  const box = el('div');
  import('./comparison.js').then(({ comparison }) => fill(box, comparison(disk.content, text))).catch(() => fill(box, el('p', {}, 'The comparison could not be read from the daemon. Try again once it is there.')));
  return box;
}

/**
 * What to do about a file that another program changed.
 * @param {Files} files
 */
function conflictBar(files) {
  const bar = el('div', { class: 'conflict-bar', role: 'alert' });
  let comparing = false;
  let key = '';
  const draw = () => {
    const file = files.current.now;
    bar.hidden = !file?.conflict;
    const now = file?.conflict ? `${file.path} ${file.disk.version} ${comparing}` : '';
    if (!file || now === key) return;
    key = now;
    if (!file.conflict) return fill(bar);
    fill(
      bar,
      el('p', {}, el('strong', {}, 'The file changed on disk'), ' while you were editing it.'),
      el('div', { class: 'row' }, button('Compare', () => ((comparing = !comparing), draw()), { 'aria-expanded': String(comparing) }), button('Keep mine', () => files.save(file, { force: true })), button('Take theirs', () => files.take(file))),
      comparing && compared(file),
    );
  };
  files.changed.watch(draw);
  return bar;
}

/**
 * Says that a file was deleted under the learner, and what that means for its text.
 * @param {Files} files
 */
function missingBar(files) {
  const bar = el('div', { class: 'conflict-bar', role: 'alert' });
  let key = '';
  const draw = () => {
    const file = files.current.now;
    const gone = file?.missing && !file.conflict ? file.path : '';
    if (gone === key) return;
    key = gone;
    bar.hidden = !gone;
    fill(bar, gone && el('p', {}, el('strong', {}, 'The file was deleted on disk.'), ' Its text is only here now. Save writes the file again.'));
  };
  bar.hidden = true;
  files.changed.watch(draw);
  files.current.watch(draw);
  return bar;
}

/** @param {App} app @param {Files} files @param {Editor} editor @param {(text: string) => void} problem */
function toolbar({ connection, session }, files, editor, problem) {
  const path = el('span', { class: 'path' });
  const save = button('Save', () => files.current.now && files.save(files.current.now), { class: 'primary', title: 'Ctrl+S' });
  const explain = button('Explain', async () => {
    const file = files.current.now;
    if (!file) return;
    const { text, range } = editor.question();
    if (!text.trim()) return problem('There is nothing to explain on this line: select some code.');
    explain.disabled = true;
    setText(explain, 'Explaining');
    try {
      await connection.ask('user:explain', { path: file.path, selectedText: text, selection: range }, ['explain:response', 'explain:error'], { ms: EXPLAIN_MS });
      problem('');
    } catch (error) {
      problem(error instanceof Error ? error.message : String(error));
    }
    setText(explain, 'Explain');
    draw();
  });
  const bar = el('div', { class: 'toolbar' }, path, explain, save);
  const draw = () => {
    const file = files.current.now;
    setText(path, file ? `${file.path}${stateOf(file) ? `, ${stateOf(file)}` : ''}` : '');
    save.disabled = !file || file.binary || file.saving;
    explain.disabled = !file || file.binary || explain.textContent !== 'Explain';
    bar.hidden = !file;
  };
  files.changed.watch(draw);
  files.current.watch(draw);
  session.active.watch(draw);
  return bar;
}

/**
 * Tells the Observer when the learner pauses and goes on.
 * @param {App} app
 */
function watchIdle({ connection }) {
  let last = Date.now();
  let idle = false;
  const act = () => {
    last = Date.now();
    if (idle) connection.tell('user:idle_end', {});
    idle = false;
  };
  for (const event of ['keydown', 'pointerdown', 'wheel']) document.addEventListener(event, act, { passive: true });
  setInterval(() => {
    if (idle || Date.now() - last < IDLE_MS) return;
    idle = connection.tell('user:idle_start', { lastActionTimestamp: last });
  }, 5000);
}

/** @param {App} app @returns {import('./main.js').View} */
export function workView(app) {
  const { connection, session } = app;
  const pointers = new Pointers(connection);
  const files = new Files(connection, pointers);
  const restorer = new Restorer(files, connection);
  const model = new TreeModel(connection);
  const editor = new Editor(files, pointers, connection);
  const problem = el('p', { class: 'problem', role: 'alert', hidden: true });
  const tell = (/** @type {string} */ text) => {
    setText(problem, text);
    problem.hidden = text === '';
  };
  const open = (/** @type {string} */ path) => {
    if (location.hash === addressOf(path)) files.show(path);
    else location.hash = addressOf(path);
  };
  const tree = new Tree(model, { open, dismiss: (path) => pointers.dismissHints([path]), hint: (path) => pointers.hints.get(path), mark: (path) => (files.open.has(path) ? stateOf(/** @type {OpenFile} */ (files.open.get(path))) : '') });
  const go = async (/** @type {import('../../../../proto/docs/paige').MessageAnchor} */ anchor) => {
    await files.show(anchor.path);
    if (anchor.range) editor.goTo(anchor.range.startLine);
  };
  const blank = el('div', { class: 'blank' }, el('p', { class: 'blank-title' }, 'No file is open'), el('p', {}, 'Choose one in the tree. The arrow keys move, Enter opens.'));
  const binary = el('p', { class: 'blank' }, 'This file is not text, so it cannot be edited here.');
  const unhint = button('Dismiss hints', () => pointers.dismissHints([...pointers.hints.keys()]), { class: 'small', title: 'Delete dismisses the hint of one file' });
  const waiting = el('p', { class: 'empty' }, 'The tree is being read.');
  const middle = el('section', { class: 'middle', 'aria-label': 'Text' }, tabs(files), toolbar(app, files, editor, tell), problem, conflictBar(files), missingBar(files), editor.root, blank, binary);
  const root = el('div', { class: 'work' }, el('h1', { class: 'unseen' }, 'Work'), el('section', { class: 'side-files', 'aria-labelledby': 'files-name' }, el('div', { class: 'side-head' }, el('h2', { id: 'files-name' }, 'Files'), unhint), waiting, tree.root), middle, coachColumn(app, files, { problem: tell, go }));

  model.known.watch((known) => {
    waiting.hidden = known;
    tree.root.hidden = !known;
    if (known && files.current.now) tree.select(files.current.now.path);
  });
  files.problem.watch(tell);
  files.changed.watch(() => tree.draw());
  pointers.changed.watch(() => {
    unhint.hidden = pointers.hints.size === 0;
    tree.draw();
  });
  files.current.watch((file) => {
    blank.hidden = file !== null;
    binary.hidden = !file?.binary;
    if (file && !root.hidden && location.hash.startsWith('#/work') && location.hash !== addressOf(file.path)) history.replaceState(null, '', addressOf(file.path));
    if (file) tree.select(file.path);
  });
  session.restored.watch((state) => state && restorer.restored(state));
  watchIdle(app);
  root.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return;
    event.preventDefault();
    if (files.current.now) files.save(files.current.now);
  });
  let asked = '';
  /** Another view is shown: what the editor measures may be wrong. */
  let away = true;
  const wanted = () => {
    if (asked && connection.status.now.up) files.show(asked);
    asked = '';
  };
  connection.on('connection:init', () => wanted());
  return {
    root,
    show(rest) {
      const path = rest.join('/');
      if (path && path !== files.current.now?.path) asked = path;
      if (connection.status.now.up) wanted();
      if (away && files.current.now) editor.mirror.refresh();
      away = false;
    },
    hide() {
      away = true;
    },
    title: () => files.current.now?.path ?? 'Work',
  };
}
