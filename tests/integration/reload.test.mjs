// reload.test.mjs - SIGHUP: settings change under the work that is going on, and no work notices (settings_snapshot.h).
import { strict as assert } from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { QUESTION } from './lib/project.mjs';
import { scenario } from './lib/scenario.mjs';
import { sleep, until } from './lib/wait.mjs';

const QUICK = process.env.PAIGE_QUICK === '1';
const CALLS = QUICK ? 60 : 300;
const RELOADS = QUICK ? 200 : 1000;
const MODELS = ['claude-x-1', 'claude-x-2', 'claude-x-' + '3'.repeat(190)];

/** A daemon whose settings beyond the usual ones stand in a file that `set` replaces. */
async function world(t, env = {}, text = () => '') {
  const claude = await t.claude();
  const directory = t.directory('settings');
  const file = path.join(directory, 'paige.conf');
  const set = (text) => {
    fs.writeFileSync(`${file}.new`, text);
    fs.renameSync(`${file}.new`, file);
  };
  set(text(claude));
  const daemon = await t.daemon({ args: ['--config', file], env: { LLM_RETRY_BASE_MS: '50', LLM_FLOW_RETRY_MS: '50', MEMORY: 'embedded', ANTHROPIC_BASE_URL: claude.url, ...env } });
  return { claude, daemon, set, reload: () => daemon.child.kill('SIGHUP') };
}

const reloads = (daemon) => daemon.log('llm').split('\n').filter((line) => line.includes('settings reloaded')).length;

scenario(`${CALLS} calls against ${RELOADS} reloads: every request names a model that was set, nobody is restarted`, async (t) => {
  const prompts = t.directory('prompts');
  const { claude, daemon, set, reload } = await world(t, { PROMPTS_DIR: prompts });
  const prompt = (i) => {
    fs.writeFileSync(path.join(prompts, 'new'), `Explain it, version ${i}.`);
    fs.renameSync(path.join(prompts, 'new'), path.join(prompts, 'explain_this.md'));
  };
  const text = (i) => `MODEL_SONNET=${MODELS[i % MODELS.length]}\nLLM_TIMEOUT_MS=${60000 + i}\nALLOWED_ORIGINS=app://number-${i}\n`;
  prompt(0);
  set(text(0));
  reload();
  await until('the first reload', () => reloads(daemon) === 1);
  const before = daemon.worker('llm').pid;
  const editors = await Promise.all(Array.from({ length: 5 }, () => t.editor(daemon)));
  let asking = true;
  const storm = (async () => {
    for (let i = 1; i < RELOADS; i += 1) {
      set(text(i));
      if (i % 7 === 0) prompt(i);
      reload();
      await sleep(i % 10 ? 1 : 15);
    }
  })();
  await Promise.all(editors.map(async (editor) => {
    for (let i = 0; i < CALLS / editors.length; i += 1) {
      editor.send('user:explain', QUESTION);
      const answer = await editor.next(['explain:response', 'explain:error']);
      assert.equal(answer.type, 'explain:response', JSON.stringify(answer.payload));
    }
  }));
  await storm;
  assert.equal(claude.requests.length, CALLS);
  for (const { body } of claude.requests) assert.ok(MODELS.includes(body.model), body.model);
  assert.ok(new Set(claude.requests.map(({ body }) => body.model)).size > 1, 'the model never changed');
  assert.ok(new Set(claude.requests.map(({ body }) => /version \d+/.exec(JSON.stringify(body.system))?.[0])).size > 1, 'the prompt never changed');
  assert.equal(daemon.worker('llm').pid, before);
});

scenario('a changed model, key and address hold for the next call; the one under way goes on with the old ones', async (t) => {
  const { claude, daemon, set, reload } = await world(t, { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined }, (first) => `ANTHROPIC_API_KEY=key-1\nMODEL_SONNET=one\nANTHROPIC_BASE_URL=${first.url}\n`);
  const second = await t.claude();
  const editor = await t.editor(daemon);
  const before = daemon.worker('llm').pid;
  let held;
  claude.disturb = (number, response) => {
    held = response;
    return number === 1;
  };
  editor.send('user:explain', QUESTION);
  await until('the request at Claude', () => held);
  set(`ANTHROPIC_API_KEY=key-2\nMODEL_SONNET=two\nANTHROPIC_BASE_URL=${second.url}\n`);
  reload();
  await until('the reload', () => reloads(daemon) === 1);
  editor.send('user:explain', QUESTION);
  assert.equal((await editor.next(['explain:response', 'explain:error'])).type, 'explain:response');
  held.destroy(); // it is tried again, by the settings that it began with
  assert.equal((await editor.next(['explain:response', 'explain:error'])).type, 'explain:response');
  const asked = (other) => other.requests.map(({ key, body }) => [key, body.model]);
  assert.deepEqual(asked(claude), [['key-1', 'one'], ['key-1', 'one']]);
  assert.deepEqual(asked(second), [['key-2', 'two']]);
  assert.equal(daemon.worker('llm').pid, before);
  for (const log of ['gateway', 'llm']) assert.ok(!daemon.log(log).includes('key-2'));
});

scenario('another directory of prompts restarts llm, which may read no other than the one it is started with', async (t) => {
  const directories = [t.directory('prompts'), t.directory('prompts')];
  directories.forEach((directory, i) => fs.writeFileSync(path.join(directory, 'explain_this.md'), `Explain it, number ${i}.`));
  const { claude, daemon, set, reload } = await world(t, {}, () => `PROMPTS_DIR=${directories[0]}\n`);
  const pids = () => Object.fromEntries(['gateway', 'store', 'llm'].map((name) => [name, daemon.worker(name)?.pid]));
  const editor = await t.editor(daemon);
  const explain = async () => {
    editor.send('user:explain', QUESTION);
    assert.equal((await editor.next(['explain:response', 'explain:error'])).type, 'explain:response');
    return JSON.stringify(claude.requests.at(-1).body.system);
  };
  assert.match(await explain(), /number 0/);
  const before = pids();
  const llm = daemon.worker('llm');
  set(`PROMPTS_DIR=${directories[1]}\n`);
  reload();
  await daemon.replaced('llm', llm);
  assert.match(await explain(), /number 1/);
  assert.deepEqual({ ...pids(), llm: 0 }, { ...before, llm: 0 });
});
