// guards.test.mjs - the four guard machines when something dies or is damaged: what was decided stays decided, nothing is
// decided or shown twice, timers keep their time, and a broken stream or a broken guard.db hurts nobody else.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Guard, api } from './lib/guard.mjs';
import { sideBySide as scenario } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const KILLS_PER_LIFE = 3; // pauses before restarts double
const HOUR = 3600000;
const answer = (n) => ({ type: 'candidate_message', text: `Answer ${n}: our users open a page and see a list of shops near them, by how often they went.` });

/** Scripts in which only the client's events matter: every timer is far away. */
const SCRIPTS = {
  breakloop: {
    config: { monitored: ['instagram', 'tiktok'], nQuickTask: 2, windowHours: 24, quickTaskMs: HOUR, timezone: 'UTC' },
    events: [
      { type: 'app_entered', app: 'instagram' },
      { type: 'app_exited', app: 'instagram' },
      { type: 'app_entered', app: 'tiktok' },
      { type: 'intention_set', app: 'nowhere', durationMs: 60000 }, // refused
      { type: 'app_exited', app: 'tiktok' },
      { type: 'app_entered', app: 'mail' },
      { type: 'app_entered', app: 'tiktok' },
    ],
  },
  interview: {
    config: {},
    events: [
      { type: 'start' },
      answer(1),
      { type: 'assistant_query', text: 'What does the word ranking mean?' },
      { type: 'done' },
      answer(2),
      { type: 'start' }, // refused
      { type: 'done' },
      { type: 'code_submission', code: 'def rank(shops):\n    return sorted(shops)', language: 'python' },
    ],
  },
  'session-guard': {
    config: { timeboxMs: HOUR, zeroRunLimit: 9, projectCap: 9, codingQuestion: 'Write a cache.' },
    events: [
      { type: 'question_asked', text: 'Tell me about a project.' },
      { type: 'speech_started' },
      { type: 'speech_ended' },
      { type: 'response_started' },
      { type: 'response_done' },
      { type: 'dance' }, // unknown
      { type: 'response_started' },
    ],
  },
};

const ANSWERED = 'ASSISTANT_RESPONSE';

/** The rows, once the model has answered what it was asked. */
const settled = (guard) => until('the answers of the model', async () => {
  const rows = await guard.rows();
  const count = (type) => rows.filter((row) => row.type === type).length;
  return count('ASSISTANT_QUERY') === count(ANSWERED) && rows;
});

/** What a stream says, without the times at which it was said. When the model answers is its own affair: last here. */
const story = (rows) => rows.toSorted((a, b) => (a.type === ANSWERED) - (b.type === ANSWERED)).map(({ actor, type, payload }, n) => {
  const data = JSON.parse(payload, (key, value) => (key === 'facts' || key === 'config' || key === 'elapsed' || (typeof value === 'number' && value > 1e12) ? undefined : value));
  return `${n + 1} ${actor} ${type} ${JSON.stringify(data)}`;
});

async function tell(guard, events, each = async (send) => send()) {
  const answers = [];
  for (const [n, event] of events.entries()) {
    const { status, json } = await each(() => guard.post({ ...event, clientEventId: `${guard.id}-${n}` }), n);
    answers.push({ status, decision: json.decision, effects: json.effects?.map((effect) => effect.type), code: json.error?.code ?? json.code });
  }
  return answers;
}

for (const victim of ['guard-engine', 'store']) {
  scenario(`${victim} is killed at every step of a session: it ends as if nothing had happened`, async (t) => {
    const dataDir = t.directory('data');
    let daemon = await t.daemon({ dataDir });
    let kills = 0;
    for (const [kind, { config, events }] of Object.entries(SCRIPTS)) {
      const calm = await Guard.create(daemon, kind, 'calm', config);
      const wanted = await tell(calm, events);
      const { state } = await calm.get();
      const stormy = await Guard.create(daemon, kind, 'stormy', config);
      const got = await tell(stormy, events, async (send, n) => {
        if (++kills % KILLS_PER_LIFE === 0) {
          await t.release(daemon);
          daemon = await t.daemon({ dataDir });
          for (const guard of [calm, stormy]) guard.daemon = daemon;
        }
        const reply = send();
        await sleep(n % 5); // before, while and after it is stored
        await daemon.kill9(victim);
        return reply;
      });
      assert.deepEqual(got, wanted, kind);
      assert.deepEqual(story(await settled(stormy)), story(await settled(calm)), kind);
      const after = (await stormy.get()).state;
      assert.deepEqual(Object.keys(after), Object.keys(state));
      const replayed = await until('the replay', async () => {
        const result = await daemon.ctl('guard', 'replay', kind, 'stormy');
        return result.code === 0 && result;
      });
      assert.match(replayed.stdout, /stormy/);
    }
  });
}

scenario('everything dies: an event that comes again is known, and an old cursor is told so', async (t) => {
  const dataDir = t.directory('data');
  let daemon = await t.daemon({ dataDir });
  const guard = await Guard.create(daemon, 'session-guard', 'one', SCRIPTS['session-guard'].config);
  const question = { type: 'question_asked', text: 'Why?', clientEventId: 'first', expectedCursor: 1 };
  const first = await guard.event(question);
  await guard.event({ type: 'speech_started', clientEventId: 'second' });
  await daemon.die();
  daemon = await t.daemon({ dataDir });
  guard.daemon = daemon;
  const again = await guard.event(question);
  assert.equal(again.duplicate, true);
  assert.deepEqual({ ...again, duplicate: false }, first);
  const late = await guard.post({ type: 'speech_ended', clientEventId: 'third', expectedCursor: first.cursor });
  assert.equal(late.status, 409);
  assert.equal((await guard.event({ type: 'speech_ended', clientEventId: 'third', expectedCursor: first.cursor + 1 })).cursor, first.cursor + 2);
});

scenario('timers keep their time over crashes, and what fell due meanwhile is done once', async (t) => {
  const dataDir = t.directory('data');
  let daemon = await t.daemon({ dataDir });
  const config = { monitored: ['a'], nQuickTask: 3, windowHours: 24, quickTaskMs: 1500, timezone: 'UTC' };
  const expired = (rows) => rows.filter((row) => row.type === 'tick');
  const begin = async (id) => {
    const guard = await Guard.create(daemon, 'breakloop', id, config);
    const { effects } = await guard.event({ type: 'app_entered', app: 'a' });
    guard.until = effects.find((effect) => effect.type === 'start_quick_task').until;
    return guard;
  };
  const over = await begin('over-a-worker');
  await sleep(300);
  await daemon.kill9('guard-engine');
  await until('the timer', async () => expired(await over.rows()).length);
  const passed = Date.now() - over.until;
  assert.ok(passed < 2000, `${passed} ms late`);
  const away = await begin('over-a-daemon');
  await daemon.die();
  await sleep(1700);
  daemon = await t.daemon({ dataDir });
  for (const guard of [over, away]) {
    guard.daemon = daemon;
    const rows = await until('the timer', async () => {
      const all = await guard.rows();
      return expired(all).length && all;
    });
    assert.equal(expired(rows).length, 1, guard.id);
    assert.equal(expired(rows)[0].at, guard.until, 'it counts from when it was due');
    assert.equal((await guard.get()).state.apps.a.phase, 'POST_QUICK_TASK_CHOICE');
  }
});

scenario('a stream that was changed is not believed, and its neighbours are', async (t) => {
  const dataDir = t.directory('data');
  let daemon = await t.daemon({ dataDir });
  assert.equal((await daemon.ctl('guard', 'list')).stdout, 'There are no guard machines\n');
  for (const id of ['whole', 'changed', 'torn', 'hole']) {
    const guard = await Guard.create(daemon, 'session-guard', id, SCRIPTS['session-guard'].config);
    for (const event of SCRIPTS['session-guard'].events) await guard.post(event);
  }
  await t.release(daemon);
  const edit = (id, sql) => execFileSync('sqlite3', [path.join(dataDir, 'guard.db'), sql.replaceAll('$', `(SELECT number FROM streams WHERE id = '${id}')`)]);
  edit('changed', `UPDATE rows SET payload = replace(payload, 'project', 'palace') WHERE stream = $ AND seq = 2`);
  edit('torn', 'DELETE FROM rows WHERE stream = $ AND seq = (SELECT max(seq) FROM rows WHERE stream = $)');
  edit('hole', 'DELETE FROM rows WHERE stream = $ AND seq = 3');
  daemon = await t.daemon({ dataDir });
  for (const id of ['changed', 'torn', 'hole']) {
    const replay = await daemon.ctl('guard', 'replay', 'session-guard', id);
    assert.equal(replay.code, 1, `${id}: ${replay.stdout}`);
    const told = await new Guard(daemon, 'session-guard', id).post({ type: 'response_done' });
    assert.equal(told.status, 500, `${id}: ${told.text}`);
  }
  assert.equal((await daemon.ctl('guard', 'replay', 'session-guard', 'whole')).code, 0);
  assert.equal((await new Guard(daemon, 'session-guard', 'whole').post({ type: 'response_done' })).status, 200);
});

scenario('a guard.db that is none: guards say so, coaching goes on', async (t) => {
  const dataDir = t.directory('data');
  fs.writeFileSync(path.join(dataDir, 'guard.db'), 'no database '.repeat(1000));
  const daemon = await t.daemon({ dataDir }); // it is ready all the same
  const editor = await t.editor(daemon);
  await editor.ask('session:start', { issueNumber: 1 }, 'session:started');
  const told = await api(daemon, 'POST', '/guards/idle', { id: 'x' });
  assert.ok([500, 503, 507].includes(told.status), `${told.status} ${told.text}`);
  assert.match(told.text, /guard/i);
  const health = await until('degraded', async () => {
    const { status, json } = await daemon.get('/health');
    return json.status === 'degraded' && { status, json };
  });
  assert.equal(health.status, 200);
  const content = await editor.ask('file:save', { path: 'new.txt', content: 'x' }, 'fs:save_ack', (payload) => payload.path === 'new.txt');
  assert.ok(content);
  assert.equal(fs.readFileSync(path.join(dataDir, 'guard.db'), 'utf8').length, 12000, 'it is left as it was');
});

const BAD_IDS = ['nope\0x', '\0', 'x\0', 'a b', 'a\tb', 'a%b', 'a?b', 'a#b', 'caf\u00e9', '\x7f', 'x'.repeat(129)];

/** Every way in that names a machine. */
const WAYS_IN = [
  ['GET', (id) => `/guards/idle/${id}`],
  ['GET', (id) => `/guards/idle/${id}/events`],
  ['GET', (id) => `/guards/idle/${id}/replay`],
  ['GET', (id) => `/guards/interview/${id}/bundle`],
  ['POST', (id) => `/guards/idle/${id}/events`, () => ({ type: 'client_connected' })],
  ['POST', () => '/guards/idle', (id) => ({ id })],
];

/** Milliseconds of processor time that a process has used. */
const usedMs = ({ pid }) => {
  const [, rest] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

scenario('an id that no machine can have is refused at every way in, and leaves nothing behind', async (t) => {
  const daemon = await t.daemon();
  const good = await Guard.create(daemon, 'idle', 'good', {});
  const engine = daemon.worker('guard-engine');
  const editor = await t.editor(daemon);
  for (const id of BAD_IDS) {
    for (const [method, target, body] of WAYS_IN) {
      const what = `${method} ${target(JSON.stringify(id))}`;
      const path = target(encodeURIComponent(id));
      const answer = await api(daemon, method, path, body?.(id));
      if (/%([01].|7F)/.test(path)) {
        assert.equal(answer.status, 400, what);
        assert.match(answer.json.error, /request target holds a control character/, what);
      } else {
        assert.deepEqual([answer.status, answer.json?.error?.code ?? answer.json?.code], [400, 'INVALID_MESSAGE'], `${what}: ${answer.text}`);
      }
    }
    for (const [type, payload] of [['guard:subscribe', { kind: 'idle', id }], ['guard:event', { kind: 'idle', id, event: { type: 'client_connected' } }]]) {
      const answer = await editor.ask(type, payload, ['connection:error', 'guard:state', 'guard:result']);
      assert.deepEqual([answer.type, answer.payload.code], ['connection:error', 'INVALID_MESSAGE'], `${type} ${JSON.stringify(id)}`);
    }
  }
  assert.deepEqual(daemon.worker('guard-engine'), engine, 'the guard engine is the same process');
  const before = usedMs(engine);
  await sleep(2000);
  assert.ok(usedMs(engine) - before <= 100, `the engine rests; it used ${usedMs(engine) - before} ms of 2000`);
  assert.equal((await good.get()).cursor, 1);
});

scenario('the directory of the sockets is removed, as a logout does: a moment later everything answers again', async (t) => {
  const daemon = await t.daemon();
  const guard = await Guard.create(daemon, 'idle', 'here', {});
  const engine = daemon.worker('guard-engine');
  fs.rmSync(daemon.env.XDG_RUNTIME_DIR, { recursive: true });
  await daemon.replaced('guard-engine', engine);
  assert.equal((await guard.event({ type: 'client_connected' })).cursor, 2);
  assert.equal((await daemon.ctl('status')).code, 0);
});
