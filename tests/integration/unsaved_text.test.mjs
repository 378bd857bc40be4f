// unsaved_text.test.mjs - what the learner has typed and not saved outlives sessions, databases and workers, and follows the disk.
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { sideBySide as scenario, waiting } from './lib/scenario.mjs';
import { messages, tap } from './lib/tap.mjs';
import { sleep, until } from './lib/wait.mjs';

const CURSOR = { line: 1, column: 1 };

async function begin(t, options) {
  const daemon = await t.daemon(options);
  const editor = await t.editor(daemon);
  await editor.next('fs:tree');
  const mcp = await t.mcp(daemon);
  return { daemon, editor, mcp, file: (name) => path.join(daemon.projectDir, name) };
}

const open = (editor, name) => editor.ask('file:open', { path: name }, ['fs:content', 'connection:error']);
const type = (editor, name, content) => editor.send('buffer:update', { path: name, content, cursorPosition: CURSOR });
const buffer = (mcp, name) => mcp.ok('paige_get_buffer', { path: name });
const holds = (mcp, name, content) => until(`the buffer of ${name} to be ${JSON.stringify(content)}`, async () => {
  const found = await buffer(mcp, name);
  return found?.content === content && found;
});

async function unsaved(mcp, name, content) {
  assert.equal((await holds(mcp, name, content)).dirty, true);
  assert.deepEqual((await mcp.ok('paige_get_open_files')).files, [name]);
}

async function start(editor, issueNumber) {
  await editor.ask('session:start', { issueNumber }, 'session:started');
  await editor.next('fs:tree'); // the file worker knows of the session
}

scenario('unsaved text and open files outlive every start and end of a session (P6.21)', async (t) => {
  const { daemon, editor, mcp } = await begin(t);
  await open(editor, 'README.md');
  type(editor, 'README.md', 'unsaved');
  await unsaved(mcp, 'README.md', 'unsaved');
  await start(editor, 1);
  await unsaved(mcp, 'README.md', 'unsaved');
  await start(editor, 2);
  await unsaved(mcp, 'README.md', 'unsaved');
  await mcp.once('paige_end_session'); // whatever becomes of the wrap-up
  editor.send('session:end');
  await editor.next('session:ended');
  await unsaved(mcp, 'README.md', 'unsaved');
  const old = await daemon.kill9('fswatch');
  await daemon.replaced('fswatch', old);
  await unsaved(mcp, 'README.md', 'unsaved');
});

/** What may become of paige.db while the daemon is down; the session that the file worker knows is not in it afterwards. */
const DATABASES = {
  'moved away': () => {},
  'restored from a backup': (dir, copies) => fs.copyFileSync(path.join(copies, 'backup.db'), path.join(dir, 'paige.db')),
  'left without the end of its log': (dir, copies) => {
    for (const name of ['paige.db', 'paige.db-wal']) fs.copyFileSync(path.join(copies, name), path.join(dir, name));
    fs.truncateSync(path.join(dir, 'paige.db-wal'), 4096);
  },
};

const databaseFiles = (dir) => fs.readdirSync(dir).filter((name) => name.startsWith('paige.db'));

for (const [what, act] of Object.entries(DATABASES)) {
  scenario(`unsaved text outlives a database that was ${what}`, async (t) => {
    const { daemon, editor, mcp } = await begin(t);
    const copies = t.directory('copies');
    const { code, stderr } = await daemon.ctl('backup', path.join(copies, 'backup.db'));
    assert.equal(code, 0, stderr);
    await start(editor, 1);
    await open(editor, 'README.md');
    type(editor, 'README.md', 'hours of work');
    await unsaved(mcp, 'README.md', 'hours of work');
    for (const name of databaseFiles(daemon.dataDir)) fs.copyFileSync(path.join(daemon.dataDir, name), path.join(copies, name));
    for (const client of [editor, mcp]) client.close();
    await daemon.die();
    for (const name of databaseFiles(daemon.dataDir)) fs.rmSync(path.join(daemon.dataDir, name));
    act(daemon.dataDir, copies);

    const again = await t.daemon({ projectDir: daemon.projectDir, dataDir: daemon.dataDir });
    const window = await t.editor(again);
    await unsaved(await t.mcp(again), 'README.md', 'hours of work');
    await start(window, 2);
    await unsaved(await t.mcp(again), 'README.md', 'hours of work');
  });
}

scenario('whoever asks the file worker while a long diff is made does not wait for it', async (t) => {
  const { daemon, editor, mcp, file } = await begin(t);
  const other = await t.mcp(daemon);
  // Lines that have no order in common are the most work.
  const lines = (step) => Array.from({ length: 19000 }, (_, n) => `${(n * step) % 19001} ${'x'.repeat(40)}\n`).join('');
  for (let n = 0; n < 12; n += 1) {
    fs.writeFileSync(file(`f${n}.ts`), lines(7919));
    type(editor, `f${n}.ts`, lines(4001));
  }
  await holds(mcp, 'src/main.ts', 'x', type(editor, 'src/main.ts', 'x'));
  const answered = [];
  const diff = mcp.ok('paige_get_diff').then((answer) => answered.push('diff') && answer);
  await sleep(20);
  for (let n = 0; n < 5; n += 1) {
    await other.ok('paige_get_open_files');
    answered.push('open files');
  }
  assert.ok((await diff).diffs.length > 1);
  assert.deepEqual(answered, [...Array(5).fill('open files'), 'diff']);
});

scenario('a saved buffer follows the disk; an unsaved one over a changed file is a conflict', async (t) => {
  const { daemon, editor, mcp, file } = await begin(t);
  const save = (name, content) => editor.ask('file:save', { path: name, content }, ['fs:save_ack', 'fs:save_error']);
  const inState = async (name) => (await mcp.ok('paige_get_session_state', { include: ['buffers'] })).buffers.find((b) => b.path === name);
  const conflict = async (name) => {
    const [one, other] = [await buffer(mcp, name), await inState(name)];
    assert.equal(one.conflict, other.conflict);
    return one.conflict;
  };
  await start(editor, 1);
  await open(editor, 'src/main.ts');
  type(editor, 'src/main.ts', 'mine\n');
  assert.equal((await save('src/main.ts', 'mine\n')).type, 'fs:save_ack');
  const ways = {
    'written in place': () => fs.writeFileSync(file('src/main.ts'), 'same\n'), // as long as before
    replaced: () => {
      fs.writeFileSync(file('x.tmp'), 'theirs 2\n');
      fs.renameSync(file('x.tmp'), file('src/main.ts'));
    },
  };
  for (const [way, act] of Object.entries(ways)) {
    act();
    const disk = fs.readFileSync(file('src/main.ts'), 'utf8');
    for (const entry of [await buffer(mcp, 'src/main.ts'), await inState('src/main.ts')]) {
      assert.deepEqual([entry.content, entry.dirty, entry.conflict], [disk, false, undefined], way);
    }
  }
  fs.rmSync(file('src/main.ts'));
  assert.equal(await buffer(mcp, 'src/main.ts'), null);
  assert.equal(await inState('src/main.ts'), undefined);

  // What the window was given is what its edits are based on, also when it begins to type later.
  await open(editor, 'README.md');
  type(editor, 'README.md', 'unsaved\n');
  await holds(mcp, 'README.md', 'unsaved\n');
  assert.equal(await conflict('README.md'), undefined);
  await open(editor, 'src/greet.ts');
  fs.writeFileSync(file('README.md'), 'theirs\n');
  fs.writeFileSync(file('src/greet.ts'), 'theirs\n');
  type(editor, 'src/greet.ts', 'typed over the old text\n');
  await holds(mcp, 'src/greet.ts', 'typed over the old text\n');
  assert.equal(await conflict('README.md'), true);
  assert.equal(await conflict('src/greet.ts'), true);
  const old = await daemon.kill9('fswatch');
  await daemon.replaced('fswatch', old);
  assert.equal(await conflict('README.md'), true);
  assert.equal((await buffer(mcp, 'README.md')).content, 'unsaved\n');
  assert.equal((await save('README.md', 'both\n')).type, 'fs:save_ack');
  assert.equal(await conflict('README.md'), undefined);
  type(editor, 'README.md', 'more\n');
  await holds(mcp, 'README.md', 'more\n');
  assert.equal(await conflict('README.md'), undefined);
  fs.rmSync(file('README.md'));
  assert.equal(await conflict('README.md'), true);
});

scenario('long files, which are read beside the loop: the same, and edits count in their order', async (t) => {
  const { daemon, editor, mcp, file } = await begin(t);
  const long = (word) => `${word}\n`.repeat(1_000_000);
  const save = (name, content) => editor.ask('file:save', { path: name, content }, ['fs:save_ack', 'fs:save_error']);
  const inState = async (name) => (await mcp.ok('paige_get_session_state', { include: ['buffers'] })).buffers.find((b) => b.path === name);
  await start(editor, 1);
  // Not open: the edits are based on what is there now, which is read first.
  fs.writeFileSync(file('long.ts'), long('old'));
  for (const content of ['one\n', 'two\n', 'three\n']) type(editor, 'long.ts', content);
  await holds(mcp, 'long.ts', 'three\n');
  assert.equal((await buffer(mcp, 'long.ts')).conflict, undefined);
  fs.writeFileSync(file('long.ts'), long('theirs'));
  assert.equal((await buffer(mcp, 'long.ts')).conflict, true);
  assert.equal((await inState('long.ts')).conflict, true);
  // An edit and its save in one go: nothing is left unsaved.
  fs.writeFileSync(file('other.ts'), long('old'));
  type(editor, 'other.ts', 'mine\n');
  assert.equal((await save('other.ts', 'mine\n')).type, 'fs:save_ack');
  assert.equal((await holds(mcp, 'other.ts', 'mine\n')).dirty, false);
  // A saved buffer follows the disk, wherever it is asked for, and places are those of the new text.
  fs.writeFileSync(file('other.ts'), long('longer'));
  const found = await inState('other.ts');
  assert.deepEqual([found.size, found.dirty, found.conflict], [7_000_000, false, undefined]);
  fs.writeFileSync(file('other.ts'), long('longest'));
  await mcp.ok('paige_highlight_lines', { path: 'other.ts', start: 1, end: 1_000_000, style: 'hint' });
  assert.match((await mcp.ok('paige_get_buffer', { path: 'other.ts', startLine: 7, endLine: 7 })).content, /longest/);
  // And in the next file worker, which knows the text before.
  await daemon.replaced('fswatch', await daemon.kill9('fswatch'));
  assert.match((await mcp.ok('paige_get_buffer', { path: 'other.ts', startLine: 1_000_000, endLine: 1_000_000 })).content, /^1000000\tlongest/);
  fs.rmSync(file('other.ts'));
  assert.equal(await buffer(mcp, 'other.ts'), null);
});

/** What a window that resumes the session is given, with the calls that it took: {state, answers}. */
async function restored(daemon, t, sessionId) {
  const looking = tap(daemon, '--json', 'fswatch');
  const late = await t.editor(daemon);
  await until('the tap is heard', () => {
    late.send('file:open', { path: 'README.md' });
    return messages(looking).some((m) => m.name === 'fs.open');
  }, { every: 50 });
  late.send('session:resume', { sessionId });
  const { payload } = await late.next('session:resumed');
  const answers = messages(looking).filter((m) => m.name === 'fs.state' && m.kind === 'answer');
  looking.child.kill('SIGINT');
  await looking.ended;
  return { state: payload.restoredState, answers };
}

/** What a window gets that asks for what is unsaved, part by part: {buffers, diffs}. */
async function asked(editor) {
  const all = { buffers: [], diffs: [] };
  for (let next, first = true; first || next !== undefined; first = false) {
    const after = next;
    const answer = await until('an answer of the file worker', async () => {
      const { type, payload } = await editor.ask('buffers:request', { include: ['buffers', 'diffs'], ...(after !== undefined && { after }) }, ['buffers:state', 'connection:error']);
      return type === 'buffers:state' && payload;
    });
    all.buffers.push(...(answer.buffers ?? []));
    all.diffs.push(...(answer.diffs ?? []));
    next = answer.next;
  }
  return all;
}

scenario('a window that comes back is given all unsaved texts and diffs, in parts of a bounded size', async (t) => {
  const { daemon, editor, mcp } = await begin(t);
  const { payload } = await editor.ask('session:start', {}, 'session:started');
  const names = Array.from({ length: 60 }, (_, i) => `src/file-${String(i).padStart(2, '0')}.ts`);
  const text = (name, size) => `// ${name} "quoted" \\ \u00e9\u{1f600}\n`.repeat(size / 40);
  for (const name of names) type(editor, name, text(name, 100_000));
  const last = names.at(-1);
  await until('the buffers', async () => (await buffer(mcp, last))?.dirty);
  const { state, answers } = await restored(daemon, t, payload.sessionId);
  assert.deepEqual(state.buffers.map(({ path: name }) => name), names);
  for (const { path: name, content, dirty } of state.buffers) assert.ok(dirty && content === text(name, 100_000), name);
  assert.deepEqual(state.diffs.map(({ path: name }) => name), names);
  for (const { path: name, diff, more } of state.diffs) {
    assert.equal(more, undefined);
    assert.equal(diff.split('\n').filter((line) => line.startsWith('+// ')).length, text(name, 100_000).split('\n').length - 1, name);
  }
  assert.deepEqual(state.open_files, ['README.md']);
  assert.equal(state.session.id, payload.sessionId);
  assert.ok(answers.length >= 9, `in ${answers.length} parts`);
  for (const { bytes, code } of answers) assert.ok(!code && bytes < 2_000_000, `${bytes} ${code}`);
});

scenario('of more than a window can be given, the rest comes without texts; a file worker that is away keeps no session waiting', async (t) => {
  const { daemon, editor, mcp } = await begin(t);
  const { payload } = await editor.ask('session:start', {}, 'session:started');
  const names = Array.from({ length: 26 }, (_, i) => `src/file-${String(i).padStart(2, '0')}.ts`);
  for (const name of names) type(editor, name, `${name}${'x'.repeat(1_000_000)}`);
  await until('the buffers', async () => (await buffer(mcp, names.at(-1)))?.dirty);
  // One with sanitizers may take longer than a session waits for it, and is asked again.
  const { state } = await until('a file worker that answers in time', async () => {
    const answer = await restored(daemon, t, payload.sessionId);
    return answer.state.buffers.length && answer.state.diffs.length && answer;
  }, { ms: process.env.ASAN_OPTIONS ? 60000 : 0 });
  assert.deepEqual(state.buffers.map(({ path: name }) => name), names);
  const whole = state.buffers.filter(({ content }) => content !== undefined);
  const bytes = whole.reduce((sum, { content }) => sum + content.length, 0);
  assert.ok(bytes > 20_000_000 && bytes < 23_000_000, `${bytes} bytes of ${whole.length} buffers`);
  for (const { path: name, content } of whole) assert.ok(content.startsWith(`${name}xxx`) && content.length === 1_000_000 + name.length, name);
  for (const { content, size, lines, dirty } of state.buffers.slice(whole.length)) assert.deepEqual([content, size, lines, dirty], [undefined, 1_000_014, 1, true]);
  assert.deepEqual(state.diffs.map(({ path: name }) => name), names);

  const worker = daemon.worker('fswatch');
  process.kill(worker.pid, 'SIGSTOP');
  try {
    editor.send('session:resume', { sessionId: payload.sessionId });
    const { payload: resumed } = await editor.next('session:resumed', { where: ({ restoredState }) => restoredState.buffers.length === 0 });
    assert.deepEqual([resumed.restoredState.open_files, resumed.restoredState.diffs], [[], []]);
    assert.equal(resumed.restoredState.session.id, payload.sessionId);
    // Nobody sends the rest by itself: the window is told to ask.
    assert.equal(resumed.incomplete, true);
  } finally {
    process.kill(worker.pid, 'SIGCONT');
  }
  const rest = await asked(editor);
  assert.deepEqual(rest.buffers.map(({ path: name }) => name), names);
  for (const { path: name, content } of rest.buffers) assert.ok(content.startsWith(`${name}xxx`) && content.length === 1_000_000 + name.length, name);
  assert.deepEqual(rest.diffs.map(({ path: name }) => name), names);
});

scenario('the state says which unsaved texts are in conflict with their files', async (t) => {
  const { daemon, editor, mcp, file } = await begin(t);
  const { payload } = await editor.ask('session:start', {}, 'session:started');
  const names = ['README.md', 'src/changed.ts', 'src/same.ts'];
  fs.mkdirSync(file('src'), { recursive: true });
  for (const name of names) fs.writeFileSync(file(name), 'as it was');
  for (const name of names) {
    await open(editor, name);
    type(editor, name, 'unsaved');
    await holds(mcp, name, 'unsaved');
  }
  const conflicts = (buffers) => Object.fromEntries(buffers.map(({ path: name, conflict }) => [name, conflict]));
  const told = async () => conflicts((await mcp.ok('paige_get_session_state', { include: ['buffers'] })).buffers);
  assert.deepEqual(await told(), { 'README.md': undefined, 'src/changed.ts': undefined, 'src/same.ts': undefined });
  fs.rmSync(file('README.md'));
  fs.writeFileSync(file('src/changed.ts'), 'by another program');
  const expected = { 'README.md': true, 'src/changed.ts': true, 'src/same.ts': undefined };
  assert.deepEqual(await told(), expected);
  assert.deepEqual(await told(), expected, 'also when the files were looked at before');
  const late = await t.editor(daemon);
  late.send('session:resume', { sessionId: payload.sessionId });
  assert.deepEqual(conflicts((await late.next('session:resumed')).payload.restoredState.buffers), expected);
  fs.writeFileSync(file('src/changed.ts'), 'as it was');
  assert.equal((await told())['src/changed.ts'], undefined, 'it is the file again that the edits began with');
});

waiting('what is typed while the file worker is away for longer than a call waits is there when it is back', async (t) => {
  const { daemon, editor, mcp } = await begin(t);
  await open(editor, 'README.md');
  type(editor, 'README.md', 'before');
  await holds(mcp, 'README.md', 'before');
  const worker = daemon.worker('fswatch');
  process.kill(worker.pid, 'SIGSTOP');
  for (let n = 0; n < 24; n += 1) {
    type(editor, 'README.md', `typed ${n}`);
    type(editor, 'src/main.ts', `main ${n}`);
    await sleep(500);
  }
  process.kill(worker.pid, 'SIGKILL');
  await daemon.replaced('fswatch', worker);
  // The first answer is the newest text: what was typed is before the question.
  assert.equal((await buffer(mcp, 'README.md')).content, 'typed 23');
  assert.equal((await buffer(mcp, 'src/main.ts')).content, 'main 23');
  assert.deepEqual(editor.of('connection:error'), []);
});

scenario('a window asks for unsaved texts without a session, and gets long ones a part at a time', async (t) => {
  const { editor, mcp, file } = await begin(t);
  const long = 'x'.repeat(700000);
  for (const name of ['a.ts', 'b.ts', 'c.ts', 'same.ts']) {
    fs.writeFileSync(file(name), 'on disk\n');
    await open(editor, name);
    type(editor, name, name === 'same.ts' ? 'on disk\n' : `${name}${long}`);
  }
  await holds(mcp, 'same.ts', 'on disk\n');
  fs.writeFileSync(file('c.ts'), 'theirs\n');
  const [buffers, diffs] = [new Map(), new Set()];
  let parts = 0;
  for (let after; parts === 0 || after !== undefined; parts += 1) {
    const { payload } = await editor.ask('buffers:request', { include: ['buffers', 'diffs'], ...(after && { after }) }, 'buffers:state');
    for (const one of payload.buffers) buffers.set(one.path, one);
    for (const one of payload.diffs) diffs.add(one.path);
    after = payload.next;
  }
  assert.ok(parts > 1, `${parts} parts`);
  for (const name of ['a.ts', 'b.ts', 'c.ts']) assert.equal(buffers.get(name).content, `${name}${long}`);
  assert.deepEqual([...diffs].sort(), ['a.ts', 'b.ts', 'c.ts'], 'what is as on the disk has no diff');
  assert.equal(buffers.get('c.ts').conflict, true);
  assert.equal(buffers.get('a.ts').conflict, undefined);
});
