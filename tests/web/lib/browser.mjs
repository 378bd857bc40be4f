// browser.mjs - a person at the web client: Debian's Chromium, driven by playwright-core. Every console error, violation of the
// policy, failed request and unhandled rejection of a page is kept, and makes the test fail.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where pictures go; none are made without it. */
const PICTURES = process.env.PAIGE_PICTURES;

/** args: for the browser besides. */
export async function launch(args = []) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...args] });
  return { browser, close: () => browser.close() };
}

export class Person {
  /** options: scheme light or dark; width; allow: which faults are expected; before: runs in the page before its own scripts; without: the requests that fail. */
  static async at(browser, daemon, { scheme = 'light', width = 1280, height = 800, hash = '', allow = () => false, before, without } = {}) {
    const person = new Person();
    person.daemon = daemon;
    person.faults = [];
    person.context = await browser.newContext({ colorScheme: scheme, viewport: { width, height }, reducedMotion: 'reduce' });
    person.page = await person.context.newPage();
    person.#watch(person.page, allow);
    if (before) await person.page.addInitScript(before);
    if (without) await person.page.route(without, (route) => route.abort());
    await person.page.goto(`${daemon.url}/${hash}`);
    return person;
  }

  #watch(page, allow) {
    const note = (text) => allow(text) || this.faults.push(text);
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && note(`console: ${message.text()}`));
    page.on('pageerror', (error) => note(`error: ${error.stack ?? error}`));
    // What a reload cuts off is no fault.
    page.on('requestfailed', (request) => request.failure()?.errorText === 'net::ERR_ABORTED' || note(`failed: ${request.url()} ${request.failure()?.errorText}`));
    page.on('response', (response) => response.status() >= 400 && note(`status ${response.status()}: ${response.url()}`));
  }

  connected() {
    return this.page.getByRole('status').filter({ hasText: /^Connected/ }).waitFor();
  }

  /** The text in the editor, as the page has it, once there is an editor. */
  text() {
    return this.page.locator('.CodeMirror').evaluate((element) => element.CodeMirror.getValue());
  }

  /** Puts the cursor at the end of a line, counted from 1, once a file is in the editor. */
  async cursor(line) {
    await this.page.waitForFunction((n) => {
      const mirror = document.querySelector('.CodeMirror')?.CodeMirror;
      return mirror && !mirror.getOption('readOnly') && mirror.getValue() !== '' && mirror.lineCount() >= n;
    }, line);
    await this.page.evaluate((n) => {
      const mirror = document.querySelector('.CodeMirror').CodeMirror;
      mirror.focus();
      mirror.setCursor(n - 1, mirror.getLine(n - 1).length);
    }, line);
  }

  editor() {
    return this.page.getByRole('textbox', { name: 'Editor' });
  }

  async openFile(...names) {
    const tree = this.page.getByRole('tree', { name: 'Files' });
    for (const name of names) await tree.getByRole('treeitem').filter({ hasText: name }).first().click();
  }

  /** Nothing in the way of anybody, as far as a program can tell. */
  async accessible(what) {
    // Through the debugger, since the page's policy lets no other script in.
    const session = await this.context.newCDPSession(this.page);
    await session.send('Runtime.evaluate', { expression: AXE });
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression: "axe.run(document, { resultTypes: ['violations'] }).then((r) => JSON.stringify(r.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 5).map((n) => n.target.join(' ') + ' ' + (n.any[0]?.message ?? '')).join(' | ')}`)))", awaitPromise: true, returnByValue: true });
    await session.detach();
    assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
    assert.deepEqual(JSON.parse(result.value), [], what);
  }

  /** Short texts that are read at a glance, badges and heads of tables, are broken at no place within a word. */
  async wholeWords(what) {
    const broken = await this.page.evaluate(() => {
      const found = [];
      for (const node of document.querySelectorAll('.badge, thead th')) {
        if (!node.checkVisibility()) continue;
        for (const text of node.childNodes) {
          if (text.nodeType !== Node.TEXT_NODE) continue;
          for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{N}]{2,20}/gu)) {
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word);
          }
        }
      }
      return found;
    });
    assert.deepEqual(broken, [], what);
  }

  /** Accessible in light and dark, wide and narrow, with a picture of each. */
  async looks(name) {
    for (const scheme of ['light', 'dark'])
      for (const width of [1280, 800]) {
        await this.page.emulateMedia({ colorScheme: scheme });
        await this.page.setViewportSize({ width, height: 800 });
        await this.accessible(`${name}, ${scheme}, ${width}`);
        await this.wholeWords(`${name}, ${scheme}, ${width}: broken words`);
        await this.picture(`${name}-${scheme}-${width}`);
      }
    await this.page.setViewportSize({ width: 1280, height: 800 });
  }

  /** The value beside a name in a list of facts. */
  fact(name) {
    return this.page.locator('.facts-list > div').filter({ has: this.page.locator('dt', { hasText: new RegExp(`^${name}$`) }) }).locator('dd');
  }

  async picture(name) {
    if (!PICTURES) return;
    fs.mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
  }

  async close() {
    await this.context.close();
    assert.deepEqual(this.faults, []);
  }
}
