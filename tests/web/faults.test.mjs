// faults.test.mjs - what a learner keeps when parts of Paige, the network or the browser fail.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { scenario } from '../integration/lib/scenario.mjs';
import { until } from '../integration/lib/wait.mjs';
import { launch, Person } from './lib/browser.mjs';
import { Wire } from './lib/wire.mjs';
import { buffer, world } from './lib/world.mjs';

/** What a lost connection says in the console is what this is about. */
const allow = (text) => /WebSocket|\/health|status 50[0-9]|ERR_/.test(text);

/** The page asks after 5 s of silence and waits 5 s for the answer; the rest is for a busy machine. */
const NOTICED_MS = 15000;

/** A world whose browser reaches the daemon over a wire. */
async function overWire(t) {
  const here = await world(t);
  const wire = t.closeLater(await Wire.lay(here.daemon.port));
  // For the page and the daemon it is the daemon's own address.
  const { browser } = t.closeLater(await launch([`--host-resolver-rules=MAP localhost:${here.daemon.port} 127.0.0.1:${wire.port}`]));
  return { ...here, wire, browser, far: { url: `http://localhost:${here.daemon.port}` } };
}

async function readme(person) {
  await person.page.getByRole('button', { name: 'Close README.md' }).waitFor();
  await person.cursor(1);
}

const status = (person, text) => person.page.getByRole('status').filter({ hasText: text }).waitFor({ timeout: 60000 });

scenario('the network goes silent: the line says so in time, and nothing that is typed is lost', async (t) => {
  const { wire, browser, far, mcp } = await overWire(t);
  const person = await Person.at(browser, far, { hash: '#/work/README.md', allow });
  const { page } = person;
  await readme(person);
  await page.keyboard.type(' before');
  await until('the text for Claude', async () => (await buffer(mcp, 'README.md'))?.content.startsWith('# Greeter before\n'));
  wire.break();
  const began = Date.now();
  await page.keyboard.type(' while');
  await status(person, /^Not connected since \d\d:\d\d:\d\d, trying again/);
  const took = Date.now() - began;
  assert.ok(took < NOTICED_MS, `it said so after ${took} ms`);
  await page.keyboard.type(' and after');
  const typed = await person.text();
  assert.ok(typed.startsWith('# Greeter before while and after\n'));
  wire.mend();
  await status(person, /^Connected/);
  await until('the whole text for Claude', async () => (await buffer(mcp, 'README.md'))?.content === typed);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('README.md, unsaved').waitFor({ state: 'hidden' });
  await person.close();
});

scenario('the daemon is killed and started anew while the learner types: every character arrives', async (t) => {
  const { daemon, browser } = await world(t);
  daemon.extraEnv.PORT = String(daemon.port);
  const person = await Person.at(browser, daemon, { hash: '#/work/README.md', allow });
  const { page } = person;
  await readme(person);
  const typing = page.keyboard.type(' one two three four five six seven eight nine ten', { delay: 40 });
  await daemon.die();
  await daemon.start();
  await typing;
  await status(person, /^Connected/);
  const typed = await person.text();
  assert.ok(typed.startsWith('# Greeter one two three four five six seven eight nine ten\n'));
  const mcp = await t.mcp(daemon);
  await until('the whole text for Claude', async () => (await buffer(mcp, 'README.md'))?.content === typed);
  await person.close();
});

scenario('the store is killed while the learner types and saves: the file is saved, the page stays connected', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const person = await Person.at(browser, daemon, { hash: '#/work/README.md', allow });
  const { page } = person;
  await readme(person);
  const old = await daemon.kill9('store');
  await page.keyboard.type(' in spite of it');
  await page.getByRole('button', { name: 'Save' }).click();
  await until('the file on the disk', () => fs.readFileSync(path.join(daemon.projectDir, 'README.md'), 'utf8').startsWith('# Greeter in spite of it\n'));
  await daemon.replaced('store', old);
  await person.cursor(1);
  await page.keyboard.type(' and on');
  await until('the text for Claude', async () => (await buffer(mcp, 'README.md'))?.content.startsWith('# Greeter in spite of it and on\n'));
  await status(person, /^Connected/);
  await person.close();
});

scenario('a page that comes while the file worker is away asks for what is unsaved, and again until it has it', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const editor = await t.editor(daemon);
  await editor.ask('session:start', {}, 'session:started');
  await editor.ask('file:open', { path: 'README.md' }, 'fs:content');
  const unsaved = '# Greeter, as nobody has saved it\n';
  editor.send('buffer:update', { path: 'README.md', content: unsaved, cursorPosition: { line: 1, column: 1 } });
  await until('the text for Claude', async () => (await buffer(mcp, 'README.md'))?.content === unsaved);
  assert.equal((await daemon.ctl('stop', 'fswatch')).code, 0);

  const before = () => {
    const { send } = WebSocket.prototype;
    window.asked = 0;
    WebSocket.prototype.send = function (text) {
      window.asked += JSON.parse(text).type === 'buffers:request';
      send.call(this, text);
    };
  };
  const person = await Person.at(browser, daemon, { before });
  const { page } = person;
  await person.connected();
  await until('the page has asked twice', async () => {
    assert.deepEqual(person.faults, []);
    const asked = await page.evaluate(() => window.asked);
    return asked >= 2 || assert.fail(`it has asked ${asked} times`);
  });
  assert.equal((await daemon.ctl('start', 'fswatch')).code, 0);
  await until('the unsaved text in the page', async () => (await person.text()) === unsaved);
  await page.getByText('README.md, unsaved').waitFor();
  assert.equal(await page.getByText('Unsaved text that Paige has kept could not be read').count(), 0);
  await person.close();
});

scenario('two windows type in one file: who saves second is asked, and neither text is lost unasked', async (t) => {
  const { daemon, browser } = await world(t);
  const [one, other] = [await Person.at(browser, daemon, { hash: '#/work/README.md' }), await Person.at(browser, daemon, { hash: '#/work/README.md' })];
  for (const person of [one, other]) await readme(person);
  await Promise.all([one.page.keyboard.type(' by one', { delay: 10 }), other.page.keyboard.type(' by the other', { delay: 10 })]);
  assert.deepEqual([(await one.text()).split('\n')[0], (await other.text()).split('\n')[0]], ['# Greeter by one', '# Greeter by the other']);
  await one.page.getByRole('button', { name: 'Save' }).click();
  await other.page.getByText('The file changed on disk').waitFor();
  assert.equal((await other.text()).split('\n')[0], '# Greeter by the other');
  await other.page.getByRole('button', { name: 'Compare' }).click();
  await other.page.getByRole('group', { name: 'Comparison' }).getByText('# Greeter by one').waitFor();
  await other.page.getByRole('button', { name: 'Keep mine' }).click();
  await until('the text of the other on the disk and in both windows', async () => fs.readFileSync(path.join(daemon.projectDir, 'README.md'), 'utf8').startsWith('# Greeter by the other\n') && (await one.text()).startsWith('# Greeter by the other\n'));
  for (const person of [one, other]) await person.close();
});

for (const [what, before] of [
  ['full', () => Object.defineProperty(Storage.prototype, 'setItem', { value: () => { throw new DOMException('full', 'QuotaExceededError'); } })],
  ['forbidden', () => Object.defineProperty(window, 'sessionStorage', { get: () => { throw new DOMException('denied', 'SecurityError'); } })],
])
  scenario(`the browser's storage is ${what}: typing and saving work, and a session brings the text back after a reload`, async (t) => {
    const { daemon, browser, mcp } = await world(t);
    const person = await Person.at(browser, daemon, { before });
    const { page } = person;
    await person.connected();
    await page.getByRole('button', { name: 'Start session' }).click();
    await page.getByRole('button', { name: 'End session' }).waitFor();
    await person.openFile('README.md');
    await readme(person);
    await page.keyboard.type(' not kept here');
    await until('the text for Claude', async () => (await buffer(mcp, 'README.md'))?.content.startsWith('# Greeter not kept here\n'));
    // Without a session it would be lost to the page, so the browser asks.
    const questions = [];
    page.on('dialog', (dialog) => {
      questions.push(dialog.type());
      dialog.accept();
    });
    await page.reload();
    assert.deepEqual(questions, ['beforeunload']);
    await until('the text after the reload', async () => (await person.text()).startsWith('# Greeter not kept here\n'));
    await page.getByText('README.md, unsaved').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await until('the file on the disk', () => fs.readFileSync(path.join(daemon.projectDir, 'README.md'), 'utf8').startsWith('# Greeter not kept here\n'));
    await page.getByText(/README\.md, (unsaved|saving)/).waitFor({ state: 'hidden' });
    await page.reload();
    await person.connected();
    assert.equal(questions.length, 1, 'what is saved cannot be lost');
    await person.close();
  });

scenario('unsaved text that the daemon has is written into the browser a few times, not at each pause; a reload loses none', async (t) => {
  const { browser, daemon } = await world(t);
  const before = () => {
    const { setItem } = Storage.prototype;
    window.drafts = 0;
    Storage.prototype.setItem = function (name, value) {
      window.drafts += name === 'paige.drafts';
      setItem.call(this, name, value);
    };
  };
  const person = await Person.at(browser, daemon, { hash: '#/work/README.md', before });
  const { page } = person;
  await readme(person);
  const drafts = () => page.evaluate(() => window.drafts);
  const [first, began] = [await drafts(), Date.now()];
  for (let i = 0; i < 15; i += 1) {
    await page.keyboard.type(` ${i}`);
    await page.waitForTimeout(250);
  }
  const [written, seconds] = [(await drafts()) - first, (Date.now() - began) / 1000];
  assert.ok(written >= 2 && written <= seconds + 2, `${written} times in ${seconds} s`);
  await page.keyboard.type(' last');
  await page.reload();
  await until('the text after the reload', async () => (await person.text()).startsWith('# Greeter 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 last\n'));
  await person.close();
});

scenario('files that are binary, deleted and renamed under the editor', async (t) => {
  const { daemon, browser, mcp } = await world(t);
  const file = (name) => path.join(daemon.projectDir, name);
  fs.writeFileSync(file('picture.bin'), Buffer.from([0, 1, 2, 255, 0]));
  const person = await Person.at(browser, daemon, { hash: '#/work/picture.bin' });
  const { page } = person;
  await page.getByText('This file is not text').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true);

  await person.openFile('README.md');
  await readme(person);
  await page.keyboard.type(' kept');
  fs.rmSync(file('README.md'));
  await page.getByText('README.md, deleted').waitFor();
  assert.ok((await person.text()).startsWith('# Greeter kept\n'));
  await page.getByRole('button', { name: 'Save' }).click();
  await until('the file is there again', () => fs.existsSync(file('README.md')) && fs.readFileSync(file('README.md'), 'utf8').startsWith('# Greeter kept\n'));
  await page.getByText('README.md, deleted').waitFor({ state: 'hidden' });

  await person.openFile('src', 'greet.ts');
  await page.getByRole('button', { name: 'Close src/greet.ts' }).waitFor();
  await until('its text', async () => (await person.text()).includes('export function greet'));
  await person.cursor(1);
  await page.keyboard.type(' // mine');
  const typed = await person.text();
  fs.renameSync(file('src/greet.ts'), file('src/hello.ts'));
  await page.getByRole('button', { name: 'Close src/hello.ts' }).waitFor();
  assert.equal(await person.text(), typed);
  await until('the text under its new name for Claude', async () => (await buffer(mcp, 'src/hello.ts'))?.content === typed);
  await page.getByRole('button', { name: 'Save' }).click();
  await until('the file on the disk', () => fs.readFileSync(file('src/hello.ts'), 'utf8') === typed);
  assert.equal(fs.existsSync(file('src/greet.ts')), false);
  await person.close();
});

scenario('a view that cannot be read says so, and the others go on', async (t) => {
  const { daemon, browser } = await world(t);
  const person = await Person.at(browser, daemon, { allow: (text) => /view_guards|Failed to load resource/.test(text), without: /view_guards/ });
  const { page } = person;
  await person.connected();
  await page.getByRole('link', { name: 'Guards' }).click();
  const said = page.getByText('This view could not be read from the daemon.');
  await said.waitFor();
  assert.equal(await page.getByRole('tree', { name: 'Files' }).isVisible(), false);
  await page.getByRole('link', { name: 'System' }).click();
  await page.getByRole('heading', { name: 'System' }).waitFor();
  await said.waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'Work' }).click();
  await page.getByRole('tree', { name: 'Files' }).waitFor();
  await person.close();
});
