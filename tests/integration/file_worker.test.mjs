// file_worker.test.mjs - files through the whole daemon: what editors and version control do to a project, names and links of
// every kind, encodings, and a project that goes away.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { git, smallProject } from './lib/project.mjs';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { known, open, told, updates, withTree } from './lib/tree.mjs';
import { sleep, until } from './lib/wait.mjs';

const QUICK = Boolean(process.env.PAIGE_QUICK);

const save = (editor, name, content) => editor.ask('file:save', { path: name, content }, ['fs:save_ack', 'fs:save_error']);

scenario('directories and files that move are one rename each, and are watched on (R03, R06)', async (t) => {
  const { editor, file } = await withTree(t);
  const step = async (from, to) => {
    fs.renameSync(file(from), file(to));
    await told(editor, `rename ${from} ${to}`);
  };
  fs.mkdirSync(file('src/a/deep'), { recursive: true });
  await told(editor, 'addDir src/a/deep');
  await step('src/a', 'src/b');
  fs.writeFileSync(file('src/b/x'), 'x');
  await told(editor, 'add src/b/x');
  fs.writeFileSync(file('src/b/deep/y'), 'y');
  await told(editor, 'add src/b/deep/y');
  await step('src/b/deep', 'moved');
  fs.writeFileSync(file('moved/z'), 'z');
  await told(editor, 'add moved/z');
  await step('src/b/x', 'moved/x');
  await sleep(300);
  assert.deepEqual(updates(editor).filter((text) => text.startsWith('unlink')), []);
  assert.deepEqual(updates(editor).filter((text) => text.startsWith('rename')), ['rename src/a src/b', 'rename src/b/deep moved', 'rename src/b/x moved/x']);
});

scenario('directories made faster than anybody can watch are all told (R05)', async (t) => {
  const { editor, dir } = await withTree(t);
  for (let i = 0; i < (QUICK ? 20 : 200); i += 1) {
    execFileSync('sh', ['-c', `mkdir -p m${i}/b/c && echo x > m${i}/b/c/f.txt`], { cwd: dir });
    const want = [`addDir m${i}`, `addDir m${i}/b`, `addDir m${i}/b/c`, `add m${i}/b/c/f.txt`];
    await until(`the four adds of run ${i}`, () => want.every((text) => updates(editor).includes(text)), { every: 5 });
    assert.deepEqual(updates(editor).filter((text) => text.split(' ')[1].split('/')[0] === `m${i}` && !text.startsWith('change')), want);
  }
});

scenario('a tree too big to be sent: every window is told, at its start and when it is out of date', async (t) => {
  const projectDir = t.keep(smallProject());
  const deep = path.join(projectDir, ...Array(4).fill('d'.repeat(200)));
  const fill = async (from, to) => {
    for (let i = from; i < to; i += 1) {
      fs.writeFileSync(path.join(deep, `${i}`.padStart(200, 'f')), '');
      if (i % 500 === 0) await sleep(0); // the scenarios beside this one go on
    }
  };
  fs.mkdirSync(deep, { recursive: true });
  await fill(0, 18000); // each of them takes more than 1,200 bytes of JSON
  const daemon = await t.daemon({ projectDir });
  const editor = await t.editor(daemon);
  const told = async () => {
    const { payload } = await editor.next('connection:error');
    return Number(/^The tree cannot be shown: the project has (\d+) files$/.exec(payload.message)[1]);
  };
  const before = await told();
  assert.ok(before >= 18000);
  fs.writeFileSync(path.join(projectDir, 'one.txt'), '');
  await editor.next('fs:tree_update', { where: ({ path: name }) => name === 'one.txt' });
  await fill(18000, 24000);
  await until('the newest state is told', async () => (await told()) === before + 6001);
  assert.equal((await editor.ask('file:open', { path: 'one.txt' }, 'fs:content')).payload.content, '');
});

scenario('links in a circle and to everywhere are three files (R07)', async (t) => {
  const projectDir = t.keep(smallProject());
  fs.symlinkSync('.', path.join(projectDir, 'loop'));
  fs.symlinkSync('/', path.join(projectDir, 'root'));
  fs.mkdirSync(path.join(projectDir, 'd'));
  fs.symlinkSync('../d', path.join(projectDir, 'd/up'));
  const started = Date.now();
  const { editor } = await withTree(t, { projectDir });
  assert.ok(Date.now() - started < 30000); // who follows them never comes to an end
  const paths = known(editor);
  for (const link of ['loop', 'root', 'd/up']) assert.ok(paths.has(link), link);
  assert.deepEqual([...paths].filter((p) => /^(loop|root|d\/up)\//.test(p)), []);
});

scenario('git commands beside the daemon are no news (R10)', async (t) => {
  const { editor, dir, file } = await withTree(t);
  for (let i = 0; i < (QUICK ? 20 : 200); i += 1) {
    git(dir, 'status');
    await sleep(0); // the scenarios beside this one go on
  }
  git(dir, 'commit', '-q', '--allow-empty', '-m', 'Nothing');
  await sleep(300);
  assert.deepEqual(updates(editor), []);
  assert.equal(editor.of('fs:tree').length, 1);
  fs.writeFileSync(file('README.md'), 'edited\n');
  await told(editor, 'change README.md');
});

scenario('names are bytes: composed and decomposed are two files, others do no harm (R12)', async (t) => {
  const { daemon, editor, dir } = await withTree(t);
  const names = ['\u00e9.ts', 'e\u0301.ts'];
  fs.writeFileSync(Buffer.concat([Buffer.from(`${dir}/bad`), Buffer.from([0xff]), Buffer.from('.ts')]), 'x');
  for (const [i, name] of names.entries()) assert.equal((await save(editor, name, `content ${i}`)).type, 'fs:save_ack');
  for (const [i, name] of names.entries()) assert.equal((await open(editor, name)).payload.content, `content ${i}`);
  for (const name of names) await told(editor, `add ${name}`);
  await told(editor, 'add bad\ufffd.ts');
  fs.unlinkSync(path.join(dir, names[0]));
  await told(editor, `unlink ${names[0]}`);
  assert.equal((await open(editor, names[0])).type, 'connection:error');
  assert.equal((await open(editor, names[1])).type, 'fs:content');
  const other = await t.editor(daemon);
  await other.next('fs:tree');
  assert.ok(known(other).has(names[1]) && !known(other).has(names[0]) && known(other).has('bad\ufffd.ts'));
});

scenario('a project that is itself a link is known by both names (R17, R18)', async (t) => {
  const projectDir = t.keep(smallProject());
  const link = path.join(t.directory('link'), 'project');
  fs.symlinkSync(projectDir, link);
  const { daemon, editor, file } = await withTree(t, { projectDir: link });
  assert.equal(editor.of('fs:tree')[0].payload.root.name, 'project');
  for (const spelling of ['README.md', path.join(link, 'README.md'), path.join(projectDir, 'README.md'), '../project/README.md']) {
    assert.deepEqual((await open(editor, spelling)).payload.path, 'README.md', spelling);
  }
  fs.symlinkSync('src/greet.ts', file('b.ts'));
  fs.symlinkSync(path.join(projectDir, 'src'), file('absolute'));
  assert.equal((await open(editor, 'absolute/greet.ts')).type, 'fs:content');
  assert.equal((await save(editor, 'b.ts', 'through the link\n')).type, 'fs:save_ack');
  assert.equal(fs.readFileSync(file('src/greet.ts'), 'utf8'), 'through the link\n');
  assert.ok(fs.lstatSync(file('b.ts')).isSymbolicLink());
  const mcp = await t.mcp(daemon);
  assert.deepEqual((await mcp.ok('paige_get_open_files')).files, ['README.md', 'absolute/greet.ts']);
});

scenario('files in other encodings are text, and stay what they are (R48)', async (t) => {
  const utf16 = Buffer.from('const ž = "🦄";\n', 'utf16le');
  const zero = Buffer.alloc(10000, 'x');
  zero[9000] = 0;
  const { editor, file } = await withTree(t);
  const files = {
    'mark16.ts': Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
    'plain16.ts': Buffer.from('let plain = 1;\n', 'utf16le'),
    'wide.ts': Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0, 0x0a, 0, 0, 0]),
    'latin.ts': Buffer.from('// café au lait\n', 'latin1'),
    'mark8.ts': Buffer.from('\ufeffmarked\n'),
    'zero.ts': zero,
  };
  for (const [name, bytes] of Object.entries(files)) fs.writeFileSync(file(name), bytes);
  const content = async (name) => (await open(editor, name)).payload;
  assert.equal((await content('mark16.ts')).content, 'const ž = "🦄";\n');
  assert.equal((await content('plain16.ts')).content, 'let plain = 1;\n');
  assert.equal((await content('wide.ts')).content, 'a\n');
  assert.equal((await content('latin.ts')).content, '// café au lait\n');
  assert.equal((await content('mark8.ts')).content, '\ufeffmarked\n');
  const binary = await content('zero.ts');
  assert.deepEqual([binary.content, binary.language, binary.binary], ['', 'binary', true]);
  await save(editor, 'mark16.ts', 'const ž = "🦄";\n');
  assert.deepEqual(fs.readFileSync(file('mark16.ts')), files['mark16.ts']);
  await save(editor, 'latin.ts', '// déjà vu\n');
  assert.deepEqual(fs.readFileSync(file('latin.ts')), Buffer.from('// déjà vu\n', 'latin1'));
  await save(editor, 'mark8.ts', 'mark dropped by the client\n');
  assert.deepEqual(fs.readFileSync(file('mark8.ts')), Buffer.from('\ufeffmark dropped by the client\n'));
});

scenario('what is asked right after a save sees the save; an edit during it stays unsaved', async (t) => {
  const { daemon, editor, file } = await withTree(t);
  const mcp = await t.mcp(daemon);
  for (let i = 0; i < 50; i += 1) {
    editor.send('file:save', { path: 'race.ts', content: `save ${i}\n` });
    editor.send('file:open', { path: 'race.ts' });
    assert.equal((await editor.next('fs:content')).payload.content, `save ${i}\n`);
    await editor.next('fs:save_ack');
  }
  for (let i = 0; i < 20; i += 1) {
    const cursorPosition = { line: 1, column: 1 };
    editor.send('buffer:update', { path: 'race.ts', content: `before ${i}`, cursorPosition });
    editor.send('file:save', { path: 'race.ts', content: `before ${i}` });
    editor.send('buffer:update', { path: 'race.ts', content: `after ${i}`, cursorPosition });
    await editor.next('fs:save_ack');
    const buffer = await until('the later edit', async () => {
      const entry = await mcp.ok('paige_get_buffer', { path: 'race.ts' });
      return entry.content === `after ${i}` && entry;
    });
    assert.equal(buffer.dirty, true);
    assert.equal(fs.readFileSync(file('race.ts'), 'utf8'), `before ${i}`);
  }
});

scenario('what is asked of a long file while it is being opened is done after it, in order', async (t) => {
  const { daemon, editor, file } = await withTree(t);
  const mcp = await t.mcp(daemon);
  const long = (word) => `${word}\n`.repeat(1_000_000);
  fs.writeFileSync(file('long.ts'), long('old'));
  for (let round = 0; round < 5; round += 1) {
    // All of it is sent at once: the file worker gets it while the thread reads.
    for (const [type, payload] of [
      ['file:open', { path: 'long.ts' }],
      ['file:save', { path: 'long.ts', content: long(`new ${round}`) }],
      ['file:open', { path: 'long.ts' }],
      ['file:close', { path: 'long.ts' }],
    ]) editor.send(type, payload);
    const before = await editor.next('fs:content');
    assert.equal(before.payload.content, round === 0 ? long('old') : long(`new ${round - 1}`));
    const saved = await editor.next('fs:save_ack');
    const after = await editor.next('fs:content');
    assert.equal(after.payload.content, long(`new ${round}`));
    assert.equal(after.payload.version, saved.payload.version);
    await until('the file is closed', async () => (await mcp.ok('paige_get_open_files')).files.length === 0);
  }
  // Two windows and a tool open it at the same time; it is open once.
  const other = await t.editor(daemon);
  const [one, two] = await Promise.all([open(editor, 'long.ts'), open(other, 'long.ts'), mcp.ok('paige_open_file', { path: 'long.ts' })]);
  assert.equal(one.payload.content, two.payload.content);
  assert.equal((await other.next('editor:open_file')).payload.content, long('new 4'));
  assert.deepEqual((await mcp.ok('paige_get_open_files')).files, ['long.ts']);
});

scenario('edits are summed up once, and a file that is looked at again without an edit is not in the log for it (P4.6)', async (t) => {
  const daemon = await t.daemon({ projectDir: t.keep(smallProject()), env: { BUFFER_SUMMARY_MS: '200' } });
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  await editor.next('session:started');
  const rows = async (name) => (await daemon.actions('buffer_summary')).map(({ data }) => data).filter((data) => data.path === name);
  const edit = (name) => editor.send('buffer:update', { path: name, content: 'x'.repeat(20), cursorPosition: { line: 1, column: 1 } });
  const summed = (name) => until(`a summary of ${name}`, async () => (await rows(name)).length > 0);
  for (const name of ['one.ts', 'two.ts', 'three.ts', 'four.ts']) fs.writeFileSync(path.join(daemon.projectDir, name), 'x'.repeat(19));
  await open(editor, 'one.ts');
  edit('one.ts');
  await summed('one.ts');
  // The same tick of the timer looks at every file, so each summary of another one is a tick for the first.
  for (const other of ['two.ts', 'three.ts']) {
    editor.send('file:close', { path: 'one.ts' });
    await open(editor, 'one.ts');
    await open(editor, other);
    edit(other);
    await summed(other);
  }
  assert.deepEqual(await rows('one.ts'), [{ path: 'one.ts', editCount: 1, charDelta: 1, charCount: 20 }]);
  // What was typed just before the file is closed counts all the same.
  await open(editor, 'four.ts');
  edit('four.ts');
  editor.send('file:close', { path: 'four.ts' });
  await summed('four.ts');
  assert.deepEqual((await rows('four.ts')).map(({ editCount }) => editCount), [1]);
});

scenario('data that the daemon keeps inside the project is no part of the tree', async (t) => {
  const projectDir = t.keep(smallProject());
  const { editor } = await withTree(t, { projectDir, dataDir: path.join(projectDir, '.paige') });
  for (let i = 0; i < 20; i += 1) editor.send('buffer:update', { path: 'src/main.ts', content: `edit ${i}`, cursorPosition: { line: 1, column: 1 } });
  assert.equal((await save(editor, 'src/main.ts', 'saved')).type, 'fs:save_ack');
  await told(editor, 'change src/main.ts');
  await sleep(300);
  assert.deepEqual(updates(editor), ['change src/main.ts']);
  assert.deepEqual([...known(editor)].filter((p) => p.includes('paige')), []);
});

scenario('a project that is removed is missed, and one that comes in its place is taken up', async (t) => {
  const { daemon, editor, dir } = await withTree(t);
  const degraded = () => until('/health says degraded', async () => (await daemon.get('/health')).json.status === 'degraded');
  const parked = `${dir}-parked`;
  fs.renameSync(dir, t.keep(parked));
  await degraded();
  fs.renameSync(parked, dir);
  await daemon.healthy();
  assert.equal((await open(editor, 'README.md')).type, 'fs:content');
  fs.rmSync(dir, { recursive: true });
  await degraded();
  assert.equal((await open(editor, 'README.md')).type, 'connection:error');
  fs.mkdirSync(dir);
  fs.writeFileSync(path.join(dir, 'other.md'), 'another project\n');
  await until('the other project to be served', async () => (await open(editor, 'other.md'))?.type === 'fs:content', { every: 200 });
  fs.writeFileSync(path.join(dir, 'watched.md'), 'x');
  await until('"watched.md" to be told, by itself or in a fresh tree', () => known(editor).has('watched.md'));
});

scenario('a link in the place of the project is a fault: nothing is saved through it, whoever is restarted', async (t) => {
  const { daemon, editor, dir } = await withTree(t);
  const parked = t.keep(`${dir}-parked`);
  const other = t.keep(smallProject());
  const health = async () => (await daemon.get('/health')).json;
  fs.renameSync(dir, parked);
  fs.symlinkSync(other, dir);
  assert.equal((await save(editor, 'README.md', 'to nobody')).type, 'fs:save_error');
  await until('/health says degraded', async () => (await health()).status === 'degraded');
  const status = async (reason) => reason.test((await daemon.ctl('status', '--json')).stdout);
  await until('paigectl status tells why', () => status(/A link lies where the project directory was/));
  // A new process does not follow it either, and tries again for as long as it takes.
  await daemon.kill9('fswatch');
  await until('the file worker to be missed', async () => (await health()).workers.fswatch !== 'up');
  await until('paigectl status tells why it does not start', () => status(/a link lies where a directory was/));
  for (const place of [other, parked]) assert.equal(fs.readFileSync(path.join(place, 'README.md'), 'utf8'), '# Greeter\n\nSays hello.\n');
  fs.unlinkSync(dir);
  fs.renameSync(parked, dir);
  await daemon.healthy();
  assert.equal((await save(editor, 'README.md', 'home\n')).type, 'fs:save_ack');
  assert.equal(fs.readFileSync(path.join(dir, 'README.md'), 'utf8'), 'home\n');
});

scenario('what fails at the start of the file worker is tried again until it is mended', async (t) => {
  const { daemon, editor } = await withTree(t);
  const buffers = path.join(daemon.dataDir, 'buffers');
  fs.renameSync(buffers, `${buffers}.kept`);
  fs.symlinkSync('buffers', buffers); // cannot be opened: it leads to itself
  await daemon.kill9('fswatch');
  await until('a start that failed', () => /the buffers cannot be kept/.test(daemon.everythingWritten()));
  await until('another one', () => daemon.everythingWritten().match(/the buffers cannot be kept/g).length > 2);
  assert.notEqual((await daemon.get('/health')).json.status, 'ok');
  fs.unlinkSync(buffers);
  fs.renameSync(`${buffers}.kept`, buffers);
  await daemon.healthy();
  assert.equal((await open(editor, 'README.md')).type, 'fs:content');
});

scenario('a full disk: the old file stays, the edit stays, and the reason is told', async (t) => {
  const small = t.directory('small');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'paige-test', small], { stdio: 'ignore' });
  } catch {
    return; // needs root
  }
  try {
    fs.writeFileSync(path.join(small, 'a.txt'), 'old\n');
    const { daemon, editor } = await withTree(t, { projectDir: small });
    const mcp = await t.mcp(daemon);
    const big = 'x'.repeat(400 * 1024);
    editor.send('buffer:update', { path: 'a.txt', content: big, cursorPosition: { line: 1, column: 1 } });
    const refused = await save(editor, 'a.txt', big);
    assert.equal(refused.type, 'fs:save_error');
    assert.match(refused.payload.error, /disk is full/);
    assert.equal(fs.readFileSync(path.join(small, 'a.txt'), 'utf8'), 'old\n');
    assert.deepEqual(fs.readdirSync(small), ['a.txt']);
    const buffer = await mcp.ok('paige_get_buffer', { path: 'a.txt' });
    assert.equal(buffer.dirty, true);
    assert.match(buffer.content, /^1\tx{10000}/); // as much as a model is shown at once
    const last = await mcp.ok('paige_get_buffer', { path: 'a.txt', startLine: 1, startColumn: big.length });
    assert.deepEqual([last.content, last.more], ['1\tx', undefined], 'to its last character');
    assert.equal((await save(editor, 'a.txt', 'fits\n')).type, 'fs:save_ack');
    await t.release(daemon, editor, mcp);
  } finally {
    execFileSync('umount', ['-l', small]);
  }
});

scenario('a window that lists directories is told the top of the tree, and each directory when it asks', async (t) => {
  const { editor, file } = await withTree(t);
  const whole = editor.of('fs:tree')[0].payload.root;
  await editor.ask('connection:hello', { version: '1.0.0', platform: 'linux', listsDirectories: true, resume: { epoch: 'none', seq: 0 } }, 'connection:init');
  const bare = ({ children, ...node }) => node;
  await editor.next('fs:tree', { where: ({ root }) => JSON.stringify(root) === JSON.stringify({ ...whole, children: whole.children.map(bare) }) });
  const list = (name) => editor.ask('fs:list', { path: name }, ['fs:listed', 'connection:error']);
  const src = whole.children.find(({ path: name }) => name === 'src');
  assert.deepEqual((await list('src')).payload.root, { ...src, children: src.children.map(bare) });
  assert.deepEqual((await list('.')).payload.root, { ...whole, children: whole.children.map(bare) });
  fs.writeFileSync(file('src/later.ts'), '');
  await told(editor, 'add src/later.ts');
  assert.ok((await list('./src/')).payload.root.children.some(({ path: name }) => name === 'src/later.ts'));
  const refused = async (name) => (await list(name)).payload;
  assert.deepEqual(await refused('src/nothing'), { code: 'NOT_FOUND', message: 'There is no directory "src/nothing" in the project', context: { path: 'src/nothing' } });
  assert.equal((await refused('README.md')).code, 'NOT_FOUND');
  assert.equal((await refused('../..')).code, 'FILE_ERROR');
  assert.match((await refused('')).message, /^payload\.path: /);
});
