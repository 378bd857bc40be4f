// The WebSocket as bytes: what a library's client would never send, or hides (R25 to R27, R29, R30).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { BINARY, CLOSE, closeFrame, frame, MORE, PING, PONG, RawWebSocket, TEXT } from './lib/raw-websocket.mjs';
import { scenario, waiting } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const OPEN = JSON.stringify({ type: 'file:open', payload: { path: 'README.md' }, id: 'x' });
const bytes = (...values) => Buffer.from(values);

/** What is wrong, the frames, the close code. */
const BROKEN = [
  ['a frame that is not masked', [frame(TEXT, OPEN, { masked: false })], 1002],
  ['reserved bit 1', [frame(TEXT, OPEN, { rsv: 4 })], 1002],
  ['reserved bit 3', [frame(TEXT, OPEN, { rsv: 1 })], 1002],
  ['opcode 3', [frame(3, 'x')], 1002],
  ['opcode 11', [frame(11, '')], 1002],
  ['a ping of 126 bytes', [frame(PING, 'x'.repeat(126))], 1002],
  ['a fragmented ping', [frame(PING, 'x', { fin: false })], 1002],
  ['a continuation of nothing', [frame(MORE, 'x')], 1002],
  ['a message inside a fragmented one', [frame(TEXT, '{', { fin: false }), frame(TEXT, '}')], 1002],
  ['a length in a longer form', [frame(TEXT, 'x', { form: 126 })], 1002],
  ['a length in the longest form', [frame(TEXT, 'x'.repeat(300), { form: 127 })], 1002],
  ['a surrogate', [frame(TEXT, bytes(0xed, 0xa0, 0x80))], 1007],
  ['an overlong slash', [frame(TEXT, bytes(0xc0, 0xaf))], 1007],
  ['beyond Unicode, before the message is complete', [frame(TEXT, bytes(0x61, 0xf4), { fin: false }), frame(MORE, bytes(0x90), { fin: false })], 1007],
  ['text that ends within a character', [frame(TEXT, bytes(0xe2, 0x82))], 1007],
  ['a close of one byte', [frame(CLOSE, bytes(3))], 1002],
  ['a close reason that is not UTF-8', [frame(CLOSE, bytes(0x03, 0xe8, 0xff))], 1007],
  ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000].map((code) => [`close code ${code}`, [closeFrame(code)], 1002]),
];

scenario('broken frames are answered with their close code, and the connection ends', async (t) => {
  const daemon = await t.daemon();
  const witness = await RawWebSocket.open(daemon);
  for (const [what, frames, code] of BROKEN) {
    const raw = await RawWebSocket.open(daemon);
    raw.write(...frames);
    assert.equal(await raw.closed(), code, what);
    assert.deepEqual(raw.messages(), [], what);
    raw.destroy();
  }
  witness.message('file:open', { path: 'README.md' });
  await witness.next('fs:content');
  witness.destroy();
});

scenario('what is sound is taken: fragments, control frames between them, any cut of the bytes', async (t) => {
  const daemon = await t.daemon();
  const raw = await RawWebSocket.open(daemon);
  const answered = async (what, ...frames) => {
    const before = raw.messages().length;
    raw.write(...frames);
    await until(what, () => raw.messages().length > before, { every: 5 });
    assert.equal(raw.messages().at(-1).type, 'fs:content', what);
  };
  await answered('one frame', frame(TEXT, OPEN));
  await answered('a frame for each byte', ...[...Buffer.from(OPEN)].map((byte, i, all) => frame(i ? MORE : TEXT, bytes(byte), { fin: i === all.length - 1 })));
  await answered('empty fragments', frame(TEXT, '', { fin: false }), frame(MORE, '', { fin: false }), frame(MORE, OPEN));
  await answered('a ping between fragments', frame(TEXT, OPEN.slice(0, 9), { fin: false }), frame(PING, 'hello'), frame(MORE, OPEN.slice(9)));
  assert.deepEqual(raw.frames.filter((f) => f.opcode === PONG).map((f) => f.payload.toString()), ['hello']);
  await answered('an unasked pong', frame(PONG, 'x'), frame(TEXT, OPEN));
  await answered('JSON in a binary message', frame(BINARY, OPEN));
  const clef = JSON.stringify({ type: 'file:open', payload: { path: 'README.md', '𝄞': '𝄞' } });
  const at = Buffer.from(clef).indexOf(Buffer.from('𝄞'));
  await answered('a character cut between frames', frame(TEXT, Buffer.from(clef).subarray(0, at + 1), { fin: false }), ...[1, 2].map((n) => frame(MORE, Buffer.from(clef).subarray(at + n, at + n + 1), { fin: false })), frame(MORE, Buffer.from(clef).subarray(at + 3)));
  for (const byte of frame(TEXT, OPEN)) {
    raw.socket.write(bytes(byte));
    if (byte % 16 === 0) await sleep(1);
  }
  await until('the frame that came byte by byte', () => raw.messages().length === 8, { every: 5 });
  for (const f of raw.frames) assert.deepEqual([f.fin, f.rsv, f.masked], [true, 0, false], 'what the daemon sends is whole and not masked');
  raw.write(closeFrame(3000, 'done'));
  assert.equal(await raw.closed(), 3000, 'the code comes back');
});

scenario('what is no message is answered with connection:error, and the connection goes on', async (t) => {
  const daemon = await t.daemon();
  const raw = await RawWebSocket.open(daemon);
  const refused = [
    ['{"type":', /./],
    ['[]', /./],
    ['{"payload":{}}', /type/],
    ['{"type":"file:open"}', /payload/],
    ['{"type":"file:open","payload":{"path":7},"id":"seven"}', /payload\.path.*string/, 'seven'],
    ['{"type":"file:save","payload":{"path":"README.md"},"id":"eight"}', /payload\.content/, 'eight'],
    ['{"type":"user:explain","payload":{"path":[]},"id":9}', /payload/, 9],
  ];
  const other = await t.editor(daemon);
  const was = fs.readFileSync(path.join(daemon.projectDir, 'README.md'), 'utf8');
  for (const [text, words, id] of refused) {
    const before = raw.messages().length;
    raw.write(frame(TEXT, text));
    await until(`an answer to ${text}`, () => raw.messages().length > before);
    const answer = raw.messages().at(-1);
    assert.deepEqual([answer.type, answer.payload.code, answer.id], ['connection:error', 'INVALID_MESSAGE', id], text);
    assert.match(answer.payload.message, words);
  }
  assert.deepEqual(other.of('connection:error'), [], 'nobody else hears of it');
  assert.equal(fs.readFileSync(path.join(daemon.projectDir, 'README.md'), 'utf8'), was);
  const before = raw.messages().length;
  raw.message('galaxy:explode', {});
  raw.message('file:open', { path: 'README.md' });
  assert.equal((await raw.next('fs:content')).payload.path, 'README.md');
  assert.equal(raw.messages().length, before + 1, 'an unknown type is not answered');
  await daemon.says('gateway', 'galaxy:explode');
  raw.destroy();
});

scenario('a close without a code, and a client that just goes', async (t) => {
  const daemon = await t.daemon();
  const raw = await RawWebSocket.open(daemon);
  raw.write(frame(CLOSE));
  assert.equal(await raw.closed(), 1005);
  const gone = await RawWebSocket.open(daemon);
  gone.destroy();
  const half = await RawWebSocket.open(daemon);
  half.socket.end();
  await until('the half-closed connection ends', () => half.ended);
  assert.equal((await daemon.get('/health')).status, 200);
});

scenario('bytes behind the request are not lost', async (t) => {
  const daemon = await t.daemon();
  const raw = await RawWebSocket.open(daemon, { behind: Buffer.concat([frame(TEXT, OPEN), frame(PING, 'p')]) });
  assert.equal(raw.status, 101);
  await raw.next('fs:content');
  await until('the pong', () => raw.frames.some((f) => f.opcode === PONG), { every: 5 });
  raw.destroy();
});

scenario('sizes: 10 MiB are taken, one byte more is closed with 1009, a length is not believed', async (t) => {
  const daemon = await t.daemon();
  const limit = 10 * 1024 * 1024;
  const padded = (length) => {
    const text = '{"type":"buffer:update","payload":{"path":"README.md","content":"';
    return `${text}${'x'.repeat(length - text.length - 3)}"}}`;
  };
  const raw = await RawWebSocket.open(daemon);
  raw.write(frame(TEXT, padded(limit)), frame(TEXT, OPEN));
  await raw.next('fs:content');
  raw.write(frame(TEXT, padded(limit + 1)));
  assert.equal(await raw.closed(), 1009);
  const parts = await RawWebSocket.open(daemon);
  parts.write(frame(TEXT, 'x'.repeat(limit / 2), { fin: false }), frame(MORE, 'x'.repeat(limit / 2), { fin: false }), frame(MORE, 'x'));
  assert.equal(await parts.closed(), 1009, 'fragments count together');
  const liar = await RawWebSocket.open(daemon);
  const head = Buffer.alloc(10);
  head[0] = 0x81;
  head[1] = 0xff;
  head.writeBigUInt64BE(1n << 62n, 2);
  liar.write(head, bytes(1, 2, 3, 4), Buffer.from('x'));
  assert.equal(await liar.closed(), 1009);
});

scenario('a flood of one-way messages is worked off, in order, without losing the newest', async (t) => {
  const daemon = await t.daemon();
  const mcp = await t.mcp(daemon);
  const raw = await RawWebSocket.open(daemon);
  const count = 20000;
  for (let i = 0; i < count; i += 100) {
    raw.write(...Array.from({ length: 100 }, (_, n) => frame(TEXT, JSON.stringify({ type: 'buffer:update', payload: { path: 'README.md', content: `edit ${i + n}` } }))));
  }
  raw.message('file:open', { path: 'README.md' });
  await raw.next('fs:content');
  await until('the newest edit stands', async () => (await mcp.ok('paige_get_buffer', { path: 'README.md' }))?.content === `edit ${count - 1}`);
  assert.deepEqual(raw.messages().filter((m) => m.type === 'connection:error'), []);
  raw.destroy();
});

scenario('what a window says behind session:start holds for that session, whoever has to know of it', async (t) => {
  const daemon = await t.daemon();
  const raw = await RawWebSocket.open(daemon);
  const says = (type, payload = {}) => frame(TEXT, JSON.stringify({ type, payload }));
  const [rounds, opens] = [10, 5];
  for (let round = 1; round <= rounds; round += 1) {
    raw.write(says('session:start', { issueNumber: round }), says('observer:mute', { muted: true }), ...Array(opens).fill(says('file:open', { path: 'README.md' })));
    await until('the files are in the log', async () => (await daemon.actions('file_open')).length === round * opens);
    // The observer logs by itself: it may be behind when it has little of the processor.
    await until('the mute is in the log', async () => (await daemon.actions('observer_muted')).length === round);
    // The newest session is begun over one that is active in every other round.
    if (round % 2 === 0) raw.write(says('session:end'));
  }
  const mutes = await daemon.sql("SELECT count(*) AS n, count(DISTINCT session_id) AS sessions FROM action_log WHERE action_type = 'observer_muted'");
  assert.deepEqual(mutes, [{ n: rounds, sessions: rounds }]);
  assert.deepEqual(await daemon.actions('nudge_suppressed'), [], 'a muted observer says nothing (FR-134)');
  const files = await daemon.sql("SELECT DISTINCT count(*) AS n FROM action_log WHERE action_type = 'file_open' GROUP BY session_id");
  assert.deepEqual(files, [{ n: opens }]);
  raw.message('observer:mute', { muted: true });
  await until('without a session it is ignored (EC-70)', () => daemon.everythingWritten().includes('cannot be muted without a session'));
  raw.destroy();
});

scenario('a window that does not read is closed with 1013; fifty others get everything in time', async (t) => {
  const daemon = await t.daemon();
  const slow = await RawWebSocket.open(daemon);
  const others = await Promise.all(Array.from({ length: 50 }, () => RawWebSocket.open(daemon, { keep: 125, pongs: true })));
  const [driver] = others;
  fs.writeFileSync(path.join(daemon.projectDir, 'big.txt'), 'm'.repeat(512 * 1024));
  const large = (raw) => raw.frames.filter((f) => f.length > 500000).length;
  slow.socket.pause();
  // 8 MiB in the gateway, and what the sockets hold; the close frame is behind them and may take ten seconds, so it is read at once.
  let reading = false;
  for (let i = 0; i < 40; i += 1) {
    driver.message('file:open', { path: 'big.txt' });
    await until(`answer ${i}`, () => large(driver) > i, { every: 2 });
    if (reading || !/window does not read/.test(daemon.log('gateway'))) continue;
    reading = true;
    slow.socket.resume();
  }
  assert.ok(reading, 'it was not found within 20 MiB');
  assert.equal(await slow.closed(), 1013);
  await until('everybody has all', () => others.every((o) => large(o) === 40));
  for (const other of others) {
    const texts = other.frames.filter((f) => f.opcode === TEXT); // others are pings
    const seqs = texts.map((f) => Number(f.payload.toString().match(/"seq":(\d+)/)[1]));
    assert.deepEqual(seqs, seqs.map((_, i) => i + 1));
    other.destroy();
  }
});

scenario('resuming: what was missed, once, also when the first attempt breaks off, and not across epochs', async (t) => {
  const daemon = await t.daemon();
  const mcp = await t.mcp(daemon);
  const shout = (text) => mcp.ok('paige_highlight_lines', { path: 'README.md', start: 1, end: 1, style: 'hint', hoverText: text });
  const heard = (raw) => raw.messages().filter((m) => m.type === 'editor:highlight_lines').map((m) => m.payload.hoverText);
  const hello = (raw, resume) => raw.message('connection:hello', { version: '1', platform: 'linux', ...(resume && { resume }) });
  const first = await RawWebSocket.open(daemon);
  hello(first);
  const { epoch, connectionId } = (await first.next('connection:init')).payload;
  await first.next('fs:tree');
  await shout('seen');
  await until('seen', () => heard(first).length === 1);
  const { seq } = first.messages().at(-1);
  first.destroy();
  await sleep(50);
  for (const text of ['a', 'b']) await shout(text);
  const broken = await RawWebSocket.open(daemon);
  hello(broken, { epoch, seq, connectionId });
  broken.destroy();
  await sleep(50);
  await shout('c');
  const back = await RawWebSocket.open(daemon);
  await shout('live before hello');
  hello(back, { epoch, seq, connectionId });
  await until('all of it', () => heard(back).length === 4);
  assert.deepEqual(heard(back).sort(), ['a', 'b', 'c', 'live before hello']);
  assert.deepEqual(back.messages().map((m) => m.seq), back.messages().map((_, i) => i + 1));
  await sleep(100);
  assert.equal(back.messages().some((m) => m.type === 'fs:tree'), false, 'no fresh state for who resumes');
  // From the middle of what was sent again.
  const middle = back.messages().find((m) => m.payload.hoverText === 'a').seq;
  const id = back.messages().find((m) => m.type === 'connection:init').payload.connectionId;
  const third = await RawWebSocket.open(daemon);
  hello(third, { epoch, seq: middle, connectionId: id });
  await until('the rest', () => heard(third).length === 2);
  assert.deepEqual(heard(third), ['b', 'c']);
  assert.equal(await until('the older connection is taken for dead', () => back.ended), true);
  for (const resume of [{ epoch: 'another', seq }, { epoch, seq: 1e9, connectionId: id }, { epoch, seq, connectionId: 'unknown' }]) {
    const fresh = await RawWebSocket.open(daemon);
    hello(fresh, resume);
    await fresh.next('fs:tree');
    assert.deepEqual(heard(fresh), []);
    fresh.destroy();
  }
  third.destroy();
});

scenario('another tree: a window that lists directories is told only that, any other gets all of it, also when they return', async (t) => {
  const daemon = await t.daemon();
  const editor = await t.editor(daemon);
  const open = async (window, resume) => {
    window.raw = await RawWebSocket.open(daemon);
    window.raw.message('connection:hello', { version: '1', platform: 'linux', listsDirectories: window.lists, ...(resume && { resume }) });
    Object.assign(window, (await window.raw.next('connection:init')).payload);
  };
  const told = ({ raw }) => raw.messages().filter(({ type }) => ['fs:tree', 'fs:tree_stale'].includes(type));
  const windows = [{ lists: true }, { lists: false }];
  const once = async (what, n) => {
    for (const window of windows) {
      await until(what, () => told(window).length >= n);
      const { type, payload } = told(window)[n - 1];
      if (window.lists) assert.deepEqual([type, payload], ['fs:tree_stale', {}], what);
      else assert.equal(type === 'fs:tree' && payload.root.children.find(({ path: name }) => name === 'src').children.length > 0, true, what);
      assert.equal(told(window).length, n, what);
    }
  };
  for (const window of windows) {
    await open(window);
    const { payload } = await window.raw.next('fs:tree');
    assert.equal(payload.root.children.some(({ children }) => children), !window.lists);
  }
  await editor.ask('session:start', {}, 'session:started');
  await once('a session begins', 2);
  const old = await daemon.kill9('fswatch');
  await daemon.replaced('fswatch', old);
  await once('another file worker', 3);
  await until('the editor has it, too', () => editor.of('fs:tree').length === 3);
  for (const window of windows) {
    window.last = window.raw.messages().at(-1).seq;
    window.raw.destroy();
  }
  await editor.ask('session:start', {}, 'session:started');
  await until('a tree that they miss', () => editor.of('fs:tree').length === 4);
  for (const window of windows) await open(window, { epoch: window.epoch, seq: window.last, connectionId: window.connectionId });
  await once('what was missed', 1);
  for (const { raw } of windows) {
    assert.deepEqual(raw.messages().map((m) => m.seq), raw.messages().map((_, i) => i + 1));
    raw.destroy();
  }
});

scenario('a window that returns gets the tree that nobody had sent while only windows were there that list directories, and what else it missed', async (t) => {
  const daemon = await t.daemon();
  const hello = async (listsDirectories, resume) => {
    const raw = await RawWebSocket.open(daemon);
    raw.message('connection:hello', { version: '1', platform: 'linux', listsDirectories, ...(resume && { resume }) });
    const { payload } = await raw.next('connection:init');
    return { raw, ...payload };
  };
  const lists = await hello(true);
  const gone = await hello(false);
  await gone.raw.next('fs:tree');
  const { seq } = gone.raw.messages().at(-1);
  gone.raw.destroy();
  await daemon.says('gateway', `connection=${gone.connectionId} windows=1`);
  lists.raw.message('session:start', {});
  await lists.raw.next('session:started');
  await lists.raw.next('fs:tree_stale');
  const back = await hello(false, { epoch: gone.epoch, seq, connectionId: gone.connectionId });
  const { payload } = await back.raw.next('fs:tree');
  assert.ok(payload.root.children.find(({ path: name }) => name === 'src').children.length > 0);
  const types = back.raw.messages().map(({ type }) => type);
  assert.equal(types.includes('session:started'), true, 'what it missed');
  assert.equal(types.includes('session:resumed'), false, 'no fresh state for who resumes');
  for (const { raw } of [lists, back]) raw.destroy();
});

scenario('after a crash of the gateway nothing is resumed by mistake: every window starts afresh', async (t) => {
  const daemon = await t.daemon();
  const hello = (raw, resume) => raw.message('connection:hello', { version: '1', platform: 'linux', ...(resume && { resume }) });
  const first = await RawWebSocket.open(daemon);
  hello(first);
  const { epoch } = (await first.next('connection:init')).payload;
  const victim = await daemon.kill9('gateway');
  await until('the window is cut', () => first.ended);
  await daemon.replaced('gateway', victim);
  const other = await RawWebSocket.open(daemon);
  hello(other);
  const now = (await other.next('connection:init')).payload.epoch;
  await other.next('fs:tree');
  other.destroy();
  assert.notEqual(now, epoch, 'what it remembered is gone');
  const back = await RawWebSocket.open(daemon);
  hello(back, { epoch, seq: 2 });
  await back.next('fs:tree');
  back.destroy();
});

scenario('a highlight and a hint that the learner takes away are logged, and every window hears of it', async (t) => {
  const daemon = await t.daemon();
  const [one, other] = [await t.editor(daemon), await t.editor(daemon)];
  one.send('session:start', {});
  await one.next('session:started');
  one.send('editor:dismiss_highlight', { path: 'src/greet.ts', start: 2, end: 3 });
  assert.deepEqual((await other.next('editor:highlight_dismissed')).payload, { path: 'src/greet.ts', start: 2, end: 3 });
  assert.deepEqual((await daemon.logged('highlight_dismissed')).map((row) => row.data), [{ path: 'src/greet.ts', start: 2, end: 3 }]);
  one.send('explorer:dismiss_hint', { path: 'README.md' });
  assert.deepEqual((await other.next('explorer:hint_dismissed')).payload, { path: 'README.md' });
  assert.deepEqual((await daemon.logged('hint_dismissed')).map((row) => row.data), [{ path: 'README.md' }]);

  for (const [payload, rule] of [[{ path: 'a', start: 3, end: 2 }, /end: 2 is before start, 3/], [{ path: 'a', start: 0, end: 2 }, /start/], [{ path: '', start: 1, end: 2 }, /path/]]) {
    one.send('editor:dismiss_highlight', payload);
    const { payload: error } = await one.next('connection:error');
    assert.equal(error.code, 'INVALID_MESSAGE');
    assert.match(error.message, rule);
  }
});

scenario('connection:ping is answered with its id, to the sender alone', async (t) => {
  const daemon = await t.daemon();
  const [one, other] = [await t.editor(daemon), await t.editor(daemon)];
  const answer = await one.ask('connection:ping', {}, 'connection:pong');
  assert.deepEqual(answer.payload, {});
  assert.deepEqual(other.of('connection:pong'), []);
});

scenario('stopping closes every window with 1001', async (t) => {
  const daemon = await t.daemon();
  const all = await Promise.all(Array.from({ length: 5 }, () => RawWebSocket.open(daemon)));
  for (const raw of all) raw.socket.on('data', () => raw.closing() && !raw.answered && ((raw.answered = true), raw.write(closeFrame(1001))));
  const stopped = daemon.stop();
  for (const raw of all) assert.equal(await raw.closed(), 1001);
  await stopped;
});

const slowly = process.env.PAIGE_QUICK ? () => {} : waiting; // takes most of a minute
slowly('a window whose pongs stop coming is cut, one that answers stays', async (t) => {
  const daemon = await t.daemon();
  const deaf = await RawWebSocket.open(daemon);
  const lively = await RawWebSocket.open(daemon);
  let answered = 0;
  const timer = setInterval(() => {
    const pings = lively.frames.filter((f) => f.opcode === PING);
    for (; answered < pings.length; answered += 1) lively.write(frame(PONG, pings[answered].payload));
  }, 20);
  const start = Date.now();
  await until('the deaf one is cut', () => deaf.ended, { ms: 50000, every: 50 });
  clearInterval(timer);
  assert.ok(deaf.frames.some((f) => f.opcode === PING), 'it was pinged');
  assert.ok(Date.now() - start > 38000, 'not before it had its time');
  assert.equal(lively.ended, false);
  lively.destroy();
});
