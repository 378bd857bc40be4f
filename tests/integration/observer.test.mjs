// observer.test.mjs - whatever happens to the store and to the Observer, it counts each action once: also those that were logged while
// it did not hear the store.
import { strict as assert } from 'node:assert';
import { signal } from './lib/processes.mjs';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const NUDGE = { should_nudge: true, confidence: 0.9, signal: 'wrong_file', reasoning: 'r', suggested_context: { current_file: null, expected_file: null, time_in_file: null, phase_description: null } };

/**
 * A daemon whose Claude always nudges, with a session that is watched. Cooling down for a day: from the first nudge on each action that
 * could be a reason to look is one decision and one row.
 */
async function watched(t) {
  const claude = await t.claude();
  claude.disturb = (number, response) => {
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [{ type: 'text', text: JSON.stringify(NUDGE) }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 10, output_tokens: 5 } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));
    return true;
  };
  const daemon = await t.daemon({ env: { ANTHROPIC_BASE_URL: claude.url, OBSERVER_COOLDOWN_MS: '86400000' } });
  const editor = await t.editor(daemon);
  editor.send('session:start', { issueNumber: 7 });
  await editor.next('session:started');
  await editor.next('observer:status', { where: ({ active }) => active });
  return { claude, daemon, editor };
}

/** Does something that is logged; gives what the Observer calls it, once the file worker has taken it. */
async function act(editor, index) {
  const open = index % 3 === 0;
  if (open) editor.send('file:open', { path: 'README.md' });
  else editor.send('file:save', { path: 'README.md', content: `${index}\n` });
  await editor.next(open ? 'fs:content' : 'fs:save_ack');
  return open ? 'file_open' : 'file_save';
}

async function acts(editor, count, first = 0) {
  const done = [];
  for (let i = 0; i < count; i += 1) done.push(await act(editor, first + i));
  return done;
}

/** What the Observer of now has decided, the oldest first. */
async function decided(editor) {
  const answer = await editor.ask('observer:history', { limit: 256 }, 'observer:decisions');
  return answer ? answer.payload.decisions.reverse() : [];
}

const inLog = async (daemon) => (await daemon.sql("SELECT count(*) AS n FROM action_log WHERE action_type IN ('file_open', 'file_save')"))[0].n;

/** The Observer hears nothing while `body` runs. */
async function deaf(daemon, body) {
  const observer = daemon.worker('observer');
  assert.ok(signal(observer, 'SIGSTOP'));
  try {
    await body();
  } finally {
    signal(observer, 'SIGCONT');
  }
  assert.equal(daemon.worker('observer').pid, observer.pid, 'the same Observer');
}

scenario('an action that the store logged and nobody heard of is a reason to nudge', async (t) => {
  const { claude, daemon, editor } = await watched(t);
  await deaf(daemon, async () => {
    await daemon.kill9('store');
    await act(editor, 0);
    await until('it is in the log', async () => (await inLog(daemon)) === 1);
    assert.equal(claude.requests.length, 0);
  });
  await editor.next('observer:nudge');
  assert.equal(claude.requests.length, 1);
  assert.deepEqual((await decided(editor)).map(({ trigger, verdict }) => [trigger, verdict]), [['file_open', 'nudged']]);
});

scenario('kill -9 of the store while the Observer hears nothing: what is logged before and behind it counts once, in order', async (t) => {
  const { claude, daemon, editor } = await watched(t);
  const done = [await act(editor, 0)];
  await editor.next('observer:nudge');
  for (let round = 0; round < 3; round += 1) {
    // The end of what the old store says may still lie in the socket.
    await deaf(daemon, async () => {
      done.push(...(await acts(editor, 2, done.length)));
      await until('the old store has logged it', async () => (await inLog(daemon)) === done.length);
      const old = await daemon.kill9('store');
      done.push(...(await acts(editor, 3, done.length)));
      await until('the new store has logged it', async () => daemon.worker('store')?.pid !== old.pid && (await inLog(daemon)) === done.length);
    });
    done.push(...(await acts(editor, 2, done.length)));
    await until('as many decisions as actions', async () => (await decided(editor)).length >= done.length);
  }
  const decisions = await decided(editor);
  assert.deepEqual(decisions.map(({ trigger }) => trigger), done);
  assert.deepEqual(decisions.map(({ verdict }) => verdict), ['nudged', ...Array(done.length - 1).fill('cooldown')]);
  assert.equal((await daemon.logged('nudge_suppressed', done.length - 1)).length, done.length - 1);
  assert.equal(claude.requests.length, 1);
});

scenario('kill -9 of the store again and again while the learner works: each action counts once, in order', async (t) => {
  const { daemon, editor } = await watched(t);
  const done = [await act(editor, 0)];
  await editor.next('observer:nudge');
  for (let round = 0; round < 5; round += 1) {
    const old = await daemon.kill9('store');
    for (let i = 0; i < 6; i += 1) done.push(await act(editor, done.length));
    await daemon.replaced('store', old);
    done.push(...(await acts(editor, 2, done.length)));
  }
  await until('as many decisions as actions', async () => (await decided(editor)).length >= done.length);
  done.push(await act(editor, done.length));
  await until('one more', async () => (await decided(editor)).length >= done.length);
  assert.deepEqual((await decided(editor)).map(({ trigger }) => trigger), done);
});

scenario('kill -9 of the Observer, then of the store: what happens while the new Observer waits for it counts once', async (t) => {
  const { daemon, editor } = await watched(t);
  await act(editor, 0);
  await editor.next('observer:nudge');
  const before = await acts(editor, 2, 1);
  await daemon.logged('nudge_suppressed', before.length);
  const store = daemon.worker('store');
  assert.ok(signal(store, 'SIGSTOP'));
  const observer = await daemon.kill9('observer');
  // Nobody can know whether the one that died has counted it.
  await act(editor, 3);
  await until('the new Observer, which does not hear the store', () => {
    const now = daemon.worker('observer');
    return now && now.pid !== observer.pid && daemon.log('observer').match(/msg=ready/g).length === 2;
  });
  const done = await acts(editor, 4, 4);
  signal(store, 'SIGKILL');
  await daemon.replaced('store', store);
  await until('they are in the log', async () => (await inLog(daemon)) === 8);
  await until('they are decided', async () => (await decided(editor)).length >= done.length);
  assert.equal(done.at(-1), 'file_save');
  done.push(await act(editor, 9));
  const decisions = await until('one more', async () => {
    const all = await decided(editor);
    return all.at(-1).trigger === 'file_open' && all;
  });
  assert.deepEqual(decisions.slice(-done.length).map(({ trigger }) => trigger), done);
  assert.ok(decisions.length <= done.length + 1, `${decisions.length} decisions about ${done.length} actions and one before`);
  assert.deepEqual([...new Set(decisions.map(({ verdict }) => verdict))], ['cooldown'], 'the nudge of the one that died counts');
  assert.equal((await daemon.logged('nudge_suppressed', before.length + decisions.length)).length, before.length + decisions.length);
});
