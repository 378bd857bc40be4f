// figures.mjs - what the web client costs: transferred bytes of the first visit, first paint, ready to type, keystroke to painted in
// a file of 10,000 lines, a tree of 100,000 files until it is usable, memory of the gateway with ten pages open. Prints them, beside
// the times that this browser takes for a page of one word and for the editor's library alone; what does not depend on the machine
// is held against its bound: bytes and requests. `node tests/web/figures.mjs [FILES]`
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { Daemon } from '../integration/lib/daemon.mjs';
import { scratch, smallProject } from '../integration/lib/project.mjs';
import { launch, Person } from './lib/browser.mjs';
import { manyFiles } from './lib/many-files.mjs';

const FILES = Number(process.argv[2] ?? 100000);
const BYTES_MAX = 400 * 1024;
const REQUESTS_MAX = 20;
const LINES = 10000;
const KEYS = 300;
const VISITS = 5;
const PAGES = 10;
const LIBRARY = '/usr/share/javascript/codemirror';
const LONG = Array.from({ length: LINES }, (_, i) => `export const value${i} = compute(${i}, "text of line ${i}"); // and why\n`).join('');

const at = (values, share) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)];
const middleAndMost = (values) => `${at(values, 0.5).toFixed(0)} ms, ${at(values, 1).toFixed(0)} ms`;
const shares = (values) => `${[0.5, 0.95, 1].map((share) => at(values, share).toFixed(1)).join(', ')} ms`;
const print = (what, value) => console.log(`${what.padEnd(52)} ${value}`);

/** Runs in the page before its scripts: when it could be typed into, in milliseconds from the navigation. */
function watchReady() {
  const look = () => {
    const mirror = document.querySelector('.CodeMirror')?.CodeMirror;
    if (mirror?.getValue() && !mirror.getOption('readOnly')) window.readyToType = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  const tree = () => (document.querySelector('[role=treeitem]') ? (window.treeThere = performance.now()) : requestAnimationFrame(tree));
  requestAnimationFrame(tree);
}

async function firstVisit(browser, daemon) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(watchReady);
  const session = await context.newCDPSession(page);
  let [bytes, requests] = [0, 0];
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await session.send('Network.enable');
  await page.goto(`${daemon.url}/#/work/README.md`, { waitUntil: 'load' });
  await page.waitForFunction(() => window.readyToType && window.treeThere);
  const times = await page.evaluate(() => ({ paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, ready: window.readyToType, tree: window.treeThere }));
  await context.close();
  return { bytes, requests, ...times };
}

/** Milliseconds that the page's thread has worked: scripts, styles, layout. */
async function worked(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
}

/** Times from a key to the frame that shows its letter, and what the page works for one key on average. The cursor is in the editor. */
async function typed(page) {
  await page.evaluate(() => {
    window.times = [];
    document.addEventListener('keydown', () => {
      const began = performance.now();
      requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - began)));
    }, true);
  });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await worked(session);
  await page.keyboard.type('abcde fghi'.repeat(KEYS / 10), { delay: 30 });
  const work = (await worked(session)) - before;
  return { times: await page.evaluate(() => window.times), each: work / KEYS };
}

async function keystrokes(browser, daemon) {
  const person = await Person.at(browser, daemon, { hash: '#/work/long.ts' });
  await person.page.getByRole('button', { name: 'Close long.ts' }).waitFor();
  await person.cursor(LINES / 2);
  const figures = await typed(person.page);
  await person.close();
  return figures;
}

/** What no page can do without: a page of one word, and the editor's library with the same file and nothing else. */
async function least(browser) {
  const files = {
    '/word': '<!doctype html><title>word</title><p>word',
    '/editor': `<!doctype html><title>editor</title><link rel=stylesheet href=/codemirror.css><style>.CodeMirror { height: 700px }</style><div id=at></div>
      <script src=/codemirror.js></script><script src=/javascript.js></script>
      <script>window.mirror = CodeMirror(document.getElementById('at'), { lineNumbers: true, mode: 'application/typescript', value: ${JSON.stringify(LONG)} })</script>`,
    '/codemirror.css': fs.readFileSync(`${LIBRARY}/lib/codemirror.css`),
    '/codemirror.js': fs.readFileSync(`${LIBRARY}/lib/codemirror.js`),
    '/javascript.js': fs.readFileSync(`${LIBRARY}/mode/javascript/javascript.js`),
  };
  const types = { css: 'text/css', js: 'text/javascript' };
  const server = http.createServer(({ url }, response) => {
    response.writeHead(files[url] ? 200 : 404, { 'Content-Type': types[url.split('.')[1]] ?? 'text/html; charset=utf-8' });
    response.end(files[url]);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const open = async (path) => {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
    await page.goto(origin + path, { waitUntil: 'load' });
    return page;
  };
  const paints = [];
  for (let i = 0; i < VISITS; i += 1) {
    const page = await open('/word');
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length);
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
    await page.context().close();
  }
  const page = await open('/editor');
  await page.evaluate((n) => {
    window.mirror.focus();
    window.mirror.setCursor({ line: n, ch: 0 });
  }, LINES / 2);
  const figures = await typed(page);
  await page.context().close();
  server.close();
  return { paints, ...figures };
}

function residentKiB(pid) {
  return Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+)/m)[1]);
}

async function memory(browser, daemon) {
  const { pid } = await daemon.worker('gateway');
  const before = residentKiB(pid);
  const people = [];
  for (let i = 0; i < PAGES; i += 1) people.push(await Person.at(browser, daemon, { hash: '#/work/README.md' }));
  for (const person of people) await person.page.getByRole('button', { name: 'Close README.md' }).waitFor();
  const after = residentKiB(pid);
  for (const person of people) await person.close();
  return after - before;
}

async function measure(projectDir, body) {
  const dataDir = scratch('data');
  const daemon = new Daemon({ projectDir, dataDir });
  const { browser, close } = await launch();
  try {
    await daemon.start();
    await body(browser, daemon);
    await close();
    await daemon.stop();
  } finally {
    daemon.endNow();
    daemon.removeScratch();
    for (const directory of [projectDir, dataDir]) fs.rmSync(directory, { recursive: true, force: true });
  }
}

await measure(smallProject({ 'long.ts': LONG }), async (browser, daemon) => {
  const visits = [];
  for (let i = 0; i < VISITS; i += 1) visits.push(await firstVisit(browser, daemon));
  const of = (name) => visits.map((visit) => visit[name]);
  print('transferred at the first visit', `${(at(of('bytes'), 1) / 1024).toFixed(0)} KiB in ${at(of('requests'), 1)} requests`);
  print('first paint (median, most)', middleAndMost(of('paint')));
  print('ready to type (median, most)', middleAndMost(of('ready')));
  const printMemory = async (what) => print(`memory of the gateway with ${PAGES} pages more${what}`, `${((await memory(browser, daemon)) / 1024).toFixed(1)} MiB`);
  await printMemory('');
  const { times, each } = await keystrokes(browser, daemon);
  print(`keystroke to painted, ${LINES} lines (p50, p95, most)`, shares(times));
  print('processor time of the page for a key', `${each.toFixed(1)} ms`);
  const floor = await least(browser);
  print('the same browser: paint of a page of one word', middleAndMost(floor.paints));
  print('a key in the editor\'s library alone (p50, p95, most)', `${shares(floor.times)}; processor ${floor.each.toFixed(1)} ms`);
  await printMemory(', which are given that file, unsaved');
  assert.ok(at(of('bytes'), 1) > 0 && at(of('bytes'), 1) <= BYTES_MAX, `the first visit transfers at most ${BYTES_MAX} bytes`);
  assert.ok(at(of('requests'), 1) <= REQUESTS_MAX, `in at most ${REQUESTS_MAX} requests`);
});

const many = smallProject();
manyFiles(many, FILES);
await measure(many, async (browser, daemon) => {
  const visits = [];
  for (let i = 0; i < VISITS; i += 1) visits.push(await firstVisit(browser, daemon));
  print(`a tree of ${FILES} files until usable (median, most)`, middleAndMost(visits.map(({ tree }) => tree)));
});
