// agent_kills.test.mjs - the agent worker is killed with -9 at every step of a scripted run: before it, when it was asked
// for, in the middle of its turn. Clients come back as real ones do, and it ends as without: the same session, the same
// history, the same conversation in the program's own memory, the same folders; nothing is left over.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Conversation, INTERRUPTED } from './agent/conversation.mjs';
import { AgentPerson } from './lib/agent-person.mjs';
import { alive } from './lib/processes.mjs';
import { scenario } from './lib/scenario.mjs';
import { until } from './lib/wait.mjs';

const FAKE = fileURLToPath(new URL('agent/fake-agent.mjs', import.meta.url));
const AT_ONCE = 3; // daemons side by side
const IDLE_MS = 1500;
const KILLS_PER_LIFE = 3; // of a daemon that is killed at several steps: pauses before restarts double
const SEVERAL = 3; // such daemons

/** The program takes its time to end, so that another one in the same session would meet it. */
const LINGER_MS = 250;

/** The worker hears of the end of a program a moment after everybody can see it. */
const ended = async (folders, programs) => {
  await until('the end of the session', async () => (await folders())[0].state === 'paused', { every: 100 });
  assert.deepEqual(programs(), []);
};

/**
 * [name, moments at which the worker is killed, what is done]. What it gives is its outcome. Every step is begun anew by
 * people who come back when they must; `at(moment)` is where the kill may be.
 */
const STEPS = [
  ['somebody connects', ['before'], async ({ ada }) => (await ada.present()).type],
  ['the folders are listed', ['before', 'sent'], ({ folders }, at) => folders(at)],
  ['a folder is connected', ['before', 'sent'], async ({ ada }, at) => (await ada.connectFolder('one', at)).type],
  ['a session in which nothing was said yet', ['before'], ({ folders }) => folders()],
  ['the first prompt', ['before', 'sent', 'turn'], ({ ada }, at) => ada.prompt('work 200 first', { at })],
  ['the second prompt', ['before', 'sent', 'turn'], ({ ada }, at) => ada.prompt('work 150 second', { at })],
  ['where the program works', ['before'], async ({ ada }) => path.basename(JSON.parse((await ada.prompt('where')).result).cwd)],
  ['a prompt that is aborted', ['before', 'turn', 'aborted'], ({ ada }, at) => ada.prompt('work 60000', { at, abort: true })],
  ['the program crashes', ['before', 'turn'], ({ ada }, at) => ada.prompt('crash 150', { at })],
  ['the next prompt starts it again', ['before', 'sent'], ({ ada }, at) => recall(ada, at)],
  ['leaving and coming back', ['before'], async ({ ada }) => {
    await ada.leave();
    const { type, resumed } = await ada.present();
    return { type, resumed, history: story(ada.told()) };
  }],
  ['a second client says something', ['before', 'sent', 'turn'], async ({ ada, bob }, at) => {
    bob.session = ada.session;
    const outcome = await bob.prompt('work 150 from the other', { at });
    await ada.hear('work 150 from the other');
    return { outcome, ada: story(ada.told()), bob: story(bob.told()) };
  }],
  ['/exit', ['before', 'sent', 'told'], async ({ ada, folders, programs }, at) => {
    await ada.goodbye(at);
    await ended(folders, programs);
  }],
  ['the folders after it', ['before'], ({ folders }) => folders()],
  ['the folder is connected again', ['before'], async ({ bob, ada }) => {
    await bob.leave();
    bob.ended = true;
    bob.session = undefined;
    const { type, resumed, sessionId } = await bob.connectFolder('one');
    return { type, resumed, same: sessionId === ada.session };
  }],
  ['what it remembers', ['before', 'sent'], ({ bob }, at) => recall(bob, at)],
  ['all leave, and the session ends', ['before', 'told'], async ({ ada, bob, folders, programs }, at) => {
    for (const person of [ada, bob]) if (person.client) await person.leave();
    await at('told');
    await ended(folders, programs);
  }],
  ['coming back late, with the id of the session', ['before'], async ({ ada }) => {
    const { type, resumed } = await ada.present();
    return { type, resumed, recall: await recall(ada) };
  }],
  ['the end', ['before', 'sent'], async ({ ada, folders, programs }, at) => {
    await ada.goodbye(at);
    await ended(folders, programs);
    return folders();
  }],
];

/**
 * Turns as [prompt, answer]. One that was cut for us may have come to its end in the program, unheard: when it was sent
 * again the program has it twice.
 */
const once = (turns) => turns.filter((turn, i) => i === 0 || JSON.stringify(turn) !== JSON.stringify(turns[i - 1]));

const recall = async (person, at) => once(JSON.parse((await person.prompt('recall', { at })).result));

/** The turns of a history that came to their end: [prompt, result]. What the program says about itself is left out. */
function story(told) {
  const turns = [];
  for (const { event } of told) {
    if (event?.type === 'user') turns.push([event.message.content]);
    if (event?.type === 'result') turns.at(-1).push(event.result);
  }
  return turns.filter(([prompt, result]) => result !== undefined && result !== INTERRUPTED && !/^(where|recall)/.test(prompt));
}

/** Processes of the machine that carry the id of a session in their arguments. */
function programsOf(session) {
  const command = (pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  };
  return session === undefined ? [] : fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && command(name).includes(session));
}

/** Runs the script; `plan` are the kills, {step, moment}. Gives everything that must be the same in the end. */
async function run(context, plan) {
  const daemon = await context.daemon({
    env: { AGENT_COMMAND: `${process.execPath} ${FAKE}`, IDLE_TIMEOUT_MS: String(IDLE_MS), FAKE_AGENT_LINGER_MS: String(LINGER_MS) },
  });
  fs.mkdirSync(path.join(daemon.projectDir, 'one'));
  const sent = new Map();
  const [ada, bob] = [new AgentPerson(daemon, sent), new AgentPerson(daemon, sent)];
  const due = [...plan];
  let first; // the session of the folder

  const folders = async (at) => {
    const guest = new AgentPerson(daemon, sent);
    const { folders: list } = await guest.ask({ type: 'listFolders' }, 'folderList', at);
    await guest.leave();
    return list.filter(({ name }) => name === 'one').map(({ state, sessionId }) => ({ state, session: sessionId === first ? 'the session' : sessionId }));
  };
  const outcomes = [];
  for (const [index, [name, , act]] of STEPS.entries()) {
    const at = async (moment) => {
      if (due[0]?.step !== index || due[0].moment !== moment) return;
      due.shift();
      const victim = await daemon.kill9('agent');
      await until('the death of the worker', () => !alive(victim), { every: 1 });
    };
    await at('before');
    outcomes.push([name, (await act({ ada, bob, folders, programs: () => programsOf(ada.session) }, at)) ?? null]);
    first ??= ada.session;
  }
  assert.deepEqual(due, [], 'the worker was killed as planned');
  assert.equal(ada.session, first);

  const conversation = new Conversation(path.join(daemon.projectDir, 'one'), first, path.join(daemon.root, 'home'));
  const asked = conversation.turns().map((turn) => turn.asked);
  for (const [text, times] of sent) {
    const done = asked.filter((other) => other === text).length;
    assert.ok(done <= times, `${text}: sent ${times} times, done ${done} times`);
  }
  const kept = fs.readdirSync(path.join(daemon.dataDir, 'agents')).filter((name) => name !== 'lock');
  const resent = [...sent].filter(([text]) => text !== 'recall').reduce((sum, [, times]) => sum + times - 1, 0);
  const result = { outcomes, conversation: once(conversation.answered()), kept, left: programsOf(first) };
  await context.release(daemon);
  return { result, resent };
}

scenario('the agent worker is killed at every step of a run: it ends as if nothing had happened', async (context) => {
  const began = Date.now();
  const { result: wanted, resent: none } = await run(context, []);
  assert.equal(none, 0, 'undisturbed, nothing is sent twice');
  assert.deepEqual(wanted.conversation.map(([asked]) => asked), ['work 200 first', 'work 150 second', 'work 150 from the other']);
  assert.deepEqual([wanted.kept, wanted.left], [[], []]);

  const kills = STEPS.flatMap(([, moments], step) => moments.map((moment) => ({ step, moment })));
  const stride = Math.ceil(kills.length / KILLS_PER_LIFE);
  const single = kills.map((kill) => [kill]);
  const several = Array.from({ length: stride }, (_, n) => kills.filter((kill, i) => i % stride === n));
  const plans = process.env.PAIGE_QUICK ? [single[12], several[4], several[9]] : [...single, ...several.slice(0, SEVERAL)];
  const total = plans.flat().length;
  let again = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let plan = plans.shift(); plan; plan = plans.shift()) {
      const what = plan.map(({ step, moment }) => `${STEPS[step][0]} (${moment})`).join(', ');
      const { result, resent } = await run(context, plan).catch((error) => {
        error.message = `killed at: ${what}: ${error.message}`;
        throw error;
      });
      for (const [part, value] of Object.entries(result))
        assert.equal(JSON.stringify(value, null, 1), JSON.stringify(wanted[part], null, 1), `killed at: ${what}: ${part}`);
      again += resent;
    }
  }));
  console.log(`# ${total} kills: ${again} prompts were cut and sent again; ${((Date.now() - began) / 1000).toFixed(1)} s`);
});
