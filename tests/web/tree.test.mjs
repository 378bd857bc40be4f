// tree.test.mjs - the rows of the tree, in the page's own module: they are right after any change, and a change costs what it
// changes, however many rows there are.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { launch, Person } from './lib/browser.mjs';

/** A page with the module as `window.TreeModel`, and what tells it of the project as `window.told`. */
async function moduleIn(t) {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: '#/activity' });
  await person.connected();
  await person.page.evaluate(async () => {
    const { TreeModel } = await import(document.querySelector('script[type=module]').src.replace('main.js', 'tree_model.js'));
    window.freshModel = () => {
      const told = {};
      const model = new TreeModel({ on: (type, handler) => (told[type] = (payload) => handler({ payload })) });
      return { model, tree: told['fs:tree'], update: told['fs:tree_update'] };
    };
    window.directory = (name, path, children) => ({ name, path, type: 'directory', children });
    window.file = (name, path) => ({ name, path, type: 'file' });
  });
  return person;
}

scenario('after any change the rows are those of a tree that is walked anew', async (t) => {
  const person = await moduleIn(t);
  const { faults, seen } = await person.page.evaluate(() => {
    const { model, tree, update } = window.freshModel();
    let seed = 7;
    const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
    const walk = (node, out = []) => {
      const sorted = [...node.children].sort((a, b) => (!a.children !== !b.children ? (a.children ? -1 : 1) : a.name < b.name ? -1 : 1));
      for (const child of sorted) {
        out.push(child.path);
        if (child.children && child.open) walk(child, out);
      }
      return out;
    };
    const NAMES = ['a', 'b', 'B', 'c1', 'c10', 'é', '.x', 'z z', '\u{1F469}', '\uFFFD'];
    const anywhere = (wanted) => {
      const all = [...model.nodes.values()].filter((node) => wanted(node));
      return all[random(all.length)];
    };
    const inside = (dir) => (dir.path === '.' ? '' : `${dir.path}/`) + NAMES[random(NAMES.length)];
    tree({ root: window.directory('p', '.', [window.file('z', 'z'), window.directory('a', 'a', [window.file('b', 'a/b')]), window.file('b', 'b')]) });
    const faults = [];
    let seen = 0;
    for (let i = 0; i < 4000 && faults.length === 0; i += 1) {
      const dir = anywhere((node) => node.children && node.depth < 6);
      const what = random(10);
      let did = '';
      if (what < 4) update({ action: random(2) ? 'add' : 'addDir', path: (did = inside(dir)) });
      else if (what === 4 && model.nodes.size > 40) update({ action: 'unlinkDir', path: (did = anywhere((node) => node.depth > 0).path) });
      else if (what === 5) {
        const one = anywhere((node) => node.depth > 0);
        const to = inside(dir);
        did = `${one.path} to ${to}`;
        if (!`${to}/`.startsWith(`${one.path}/`) && !`${one.path}/`.startsWith(`${to}/`)) update({ action: 'rename', path: one.path, newPath: to });
      } else if (what === 6) model.reveal((did = anywhere(() => true).path));
      else model.turn(anywhere((node) => node.children && node.depth > 0) ?? dir, random(3) > 0);
      const [now, right] = [model.rows.map((node) => node.path), walk(model.root)];
      seen = Math.max(seen, now.length);
      if (JSON.stringify(now) !== JSON.stringify(right)) faults.push({ step: i, what, did, now, right });
      const at = random(model.rows.length);
      if (model.rows.length && model.indexOf(model.rows[at]) !== at) faults.push(`the index of ${model.rows[at].path}`);
      for (const node of model.rows) if (model.nodes.get(node.path) !== node) faults.push(`${node.path} is another node`);
    }
    return { faults, seen };
  });
  assert.deepEqual(faults, []);
  assert.ok(seen > 50, `${seen} rows were enough for something to go wrong`);
  await person.close();
});

scenario('a change among 50,000 rows costs what it changes', async (t) => {
  const person = await moduleIn(t);
  const costs = await person.page.evaluate(() => {
    const DIRECTORIES = 50;
    const FILES = 1000;
    const { model, tree, update } = window.freshModel();
    const files = (dir) => Array.from({ length: FILES }, (_, i) => window.file(`f${String(i).padStart(4, '0')}`, `${dir}/f${String(i).padStart(4, '0')}`));
    const names = Array.from({ length: DIRECTORIES }, (_, i) => `d${String(i).padStart(2, '0')}`);
    tree({ root: window.directory('p', '.', names.map((name) => window.directory(name, name, files(name)))) });
    for (const name of names) model.turn(model.nodes.get(name), true);
    const rows = model.rows.length;
    // Whoever looks at a node asks how deep it is.
    let looks = 0;
    for (const node of model.nodes.values()) {
      let { depth } = node;
      Object.defineProperty(node, 'depth', { get: () => ((looks += 1), depth), set: (value) => (depth = value) });
    }
    const cost = (body) => {
      looks = 0;
      body();
      return looks;
    };
    const one = model.nodes.get('d25');
    return {
      rows,
      add: cost(() => update({ action: 'add', path: 'd25/f0500a' })),
      unlink: cost(() => update({ action: 'unlink', path: 'd25/f0501' })),
      rename: cost(() => update({ action: 'rename', path: 'd25/f0502', newPath: 'd30/g' })),
      find: cost(() => model.indexOf(model.nodes.get('d49/f0999'))),
      reveal: cost(() => model.reveal('d10/f0007')),
      shut: cost(() => model.turn(one, false)),
      open: cost(() => model.turn(one, true)),
      changed: one.children.length,
    };
  });
  const { rows, changed, shut, open, ...single } = costs;
  assert.equal(rows, 50 * 1001);
  // Halving 50,000 rows looks at 16 of them, and at each with those above it.
  for (const [what, looks] of Object.entries(single)) assert.ok(looks < 400, `${what} looks at nodes ${looks} times`);
  assert.ok(shut >= changed && shut < changed + 400, `closing ${changed} rows looks at nodes ${shut} times`);
  assert.ok(open < changed + 400, `opening ${changed} rows looks at nodes ${open} times`);
  await person.close();
});

scenario('of a tree only what somebody opened, or what changes, becomes nodes; another tree keeps what is open', async (t) => {
  const person = await moduleIn(t);
  const { sizes, rows } = await person.page.evaluate(() => {
    const { model, tree, update } = window.freshModel();
    const files = (dir) => Array.from({ length: 1000 }, (_, i) => window.file(`f${i}`, `${dir}/f${i}`));
    const told = () => window.directory('p', '.', Array.from({ length: 100 }, (_, i) => window.directory(`d${i}`, `d${i}`, [window.directory('in', `d${i}/in`, files(`d${i}/in`)), ...files(`d${i}`)])));
    const sizes = [];
    const size = () => sizes.push(model.nodes.size);
    tree({ root: told() });
    size();
    model.reveal('d7/in/f3');
    size();
    update({ action: 'add', path: 'd8/new' });
    update({ action: 'unlink', path: 'd8/f1' });
    update({ action: 'add', path: 'd8/f2' });
    size();
    update({ action: 'rename', path: 'd9', newPath: 'e9' });
    model.reveal('e9/in/f3');
    size();
    model.turn(model.nodes.get('d7'), false);
    tree({ root: told() });
    size();
    model.turn(model.nodes.get('d7'), true);
    return { sizes, rows: model.rows.length };
  });
  // The root and 100 directories; two directories opened; one that changed; two of the one that was renamed; at last none is open.
  assert.deepEqual(sizes, [101, 101 + 2001, 101 + 3002, 101 + 5003, 101]);
  assert.equal(rows, 100 + 2001, 'a directory in a closed one is open still');
  await person.close();
});

scenario('after changes that nobody saw only what is shown is asked for again, and what is still there stays where it is', async (t) => {
  const daemon = await t.daemon();
  const { browser } = t.closeLater(await launch());
  const person = await Person.at(browser, daemon, { hash: '#/activity' });
  await person.connected();
  /** What the daemon sends to another page. */
  const heard = [];
  const other = await person.context.newPage();
  other.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => heard.push(JSON.parse(String(payload)))));
  await other.goto(`${daemon.url}/#/work`);
  const tree = other.getByRole('tree', { name: 'Files' });
  const row = (name) => tree.getByRole('treeitem').filter({ hasText: name });
  const types = (type) => heard.filter((message) => message.type === type);
  await row('src').click();
  await row('greet.ts').waitFor();
  await row('main.ts').waitFor();
  await until('the end of the first tree', () => types('fs:tree').length === 1);
  fs.rmSync(path.join(daemon.projectDir, 'src/main.ts'));
  await row('main.ts').waitFor({ state: 'detached' });
  // Nobody watches meanwhile.
  const old = await daemon.kill9('fswatch');
  for (const dir of ['src', 'src/deep', 'closed']) {
    fs.mkdirSync(path.join(daemon.projectDir, dir), { recursive: true });
    for (let i = 0; i < 400; i += 1) fs.writeFileSync(path.join(daemon.projectDir, dir, `f${String(i).padStart(3, '0')}.txt`), '');
  }
  fs.rmSync(path.join(daemon.projectDir, 'src/greet.ts'));
  await daemon.replaced('fswatch', old);
  await until('another tree was told', () => types('fs:tree_stale').length > 0);
  await row('deep').waitFor();
  await row('closed').waitFor();
  await row('greet.ts').waitFor({ state: 'detached' });
  const rows = () => tree.evaluate((node) => node.querySelector('.tree-space').offsetHeight / node.querySelector('[role=treeitem]').offsetHeight);
  await until('a row for each file of the open directory', async () => (await rows()) === 404);
  assert.equal(types('fs:tree').length, 1, 'the whole tree never comes');
  assert.ok(types('fs:listed').every(({ payload }) => ['.', 'src'].includes(payload.root.path)), 'what nobody looks at is not asked for');
  await row('deep').click();
  await until('a row for each file of the one that is opened then', async () => (await rows()) === 804);
  await person.close();
});

scenario('a directory that is not told is asked for when it is opened, again when it changes meanwhile, and again when somebody comes into it', async (t) => {
  const person = await moduleIn(t);
  const seen = await person.page.evaluate(async () => {
    const { TreeModel } = await import(document.querySelector('script[type=module]').src.replace('main.js', 'tree_model.js'));
    const told = {};
    const asked = [];
    const ask = (type, { path }) => new Promise((resolve, reject) => asked.push({ path, reject, answer: (...children) => resolve({ payload: { root: window.directory(path, path, children) } }) }));
    const model = new TreeModel({ ask, on: (type, handler) => (told[type] = (payload) => handler({ payload })) });
    const seen = [];
    const look = async (what) => {
      await new Promise((resolve) => setTimeout(resolve));
      seen.push([what, model.rows.map(({ path }) => path).join(' '), asked.map(({ path }) => path).join(' ')]);
    };
    const update = told['fs:tree_update'];
    const root = () => window.directory('p', '.', [window.directory('a', 'a'), window.directory('b', 'b')].map(({ children, ...node }) => node));
    told['fs:tree']({ root: root() });
    update({ action: 'add', path: 'a/x' });
    await look('told');
    model.turn(model.nodes.get('a'), true);
    await look('opened');
    update({ action: 'unlink', path: 'a/x' });
    asked.shift().answer(window.file('x', 'a/x'));
    await look('answered before the change');
    asked.shift().answer(window.directory('in', 'a/in'), window.file('y', 'a/y'));
    await look('answered after it');
    update({ action: 'rename', path: 'b/z', newPath: 'a/z' });
    await look('renamed from what nobody knows');
    asked.shift().answer(window.directory('in', 'a/in'), window.file('y', 'a/y'), window.file('z', 'a/z'));
    await look('so it is asked again');
    update({ action: 'rename', path: 'a/y', newPath: 'b/y' });
    model.turn(model.nodes.get('b'), true);
    asked.shift().reject(new Error('away'));
    await look('not answered');
    model.turn(model.nodes.get('b'), false);
    const there = model.reveal('b/y');
    asked.shift().answer(window.file('y', 'b/y'));
    await there;
    await look('asked again');
    told['fs:tree']({ root: root() });
    asked.shift().answer(window.file('z', 'a/z'));
    asked.shift().answer(window.file('y', 'b/y'));
    await look('another tree');
    return seen;
  });
  assert.deepEqual(seen, [
    ['told', 'a b', ''],
    ['opened', 'a b', 'a'],
    ['answered before the change', 'a a/x b', 'a'],
    ['answered after it', 'a a/in a/y b', ''],
    ['renamed from what nobody knows', 'a a/in a/y b', 'a'],
    ['so it is asked again', 'a a/in a/y a/z b', ''],
    ['not answered', 'a a/in a/z b', ''],
    ['asked again', 'a a/in a/z b b/y', ''],
    ['another tree', 'a a/z b b/y', ''],
  ]);
  await person.close();
});
