// scenario.mjs - one test against real daemons. Whatever it made is taken down again, and stopping is part of the test:
// every daemon must end with 0, leave no process behind and have reported nothing to a sanitizer.
import fs from 'node:fs';
import test from 'node:test';
import { declare, inBackground } from './background.mjs';
import { Claude } from './claude.mjs';
import { Daemon } from './daemon.mjs';
import { Editor } from './editor.mjs';
import { Mcp } from './mcp.mjs';
import { scratch, smallProject } from './project.mjs';

async function play(body) {
  const context = new Context();
  try {
    await body(context);
    await context.finish();
    return context.skipped;
  } catch (error) {
    error.message += `\n${context.daemons.map((daemon) => daemon.tail()).join('\n')}`;
    throw error;
  } finally {
    context.clear();
  }
}

export function scenario(name, body) {
  declare(name, () => play(body));
}

/**
 * A scenario that waits for most of its time, and looks at nothing that the scenarios beside it could slow down. Those of a file
 * begin with the file and run one after another, beside its other scenarios. They stand last in the file, where node comes to them when
 * they are nearly over.
 */
export const waiting = inBackground((body) => play(body));

/** In the place of `scenario`, for a file none of whose scenarios measures: a daemon waits more than it works, so two run at a time. */
export const sideBySide = inBackground((body) => play(body), 2);

/** What stands for `scenario` or one of the others: each counts as skipped when there is a reason why it cannot be played. */
export const unless = (reason, kind) => (reason ? (name) => test(name, { skip: reason }, () => {}) : kind);

class Context {
  constructor() {
    this.daemons = [];
    this.clients = [];
    this.directories = [];
  }

  /** For a body that finds that this machine cannot play it, and returns then: the test counts as skipped. */
  skip(reason) {
    this.skipped = reason;
  }

  directory(tag) {
    return this.keep(scratch(tag));
  }

  /** Has a directory removed at the end. */
  keep(directory) {
    this.directories.push(directory);
    return directory;
  }

  /** A daemon that is ready. options: projectDir (a small project unless told), dataDir, env, args, descriptors, paiged. */
  async daemon({ projectDir, dataDir, env, args, descriptors, paiged } = {}) {
    const daemon = new Daemon({
      projectDir: projectDir ?? this.keep(smallProject()),
      dataDir: dataDir ?? this.directory('data'),
      env,
      args,
      descriptors,
      paiged,
    });
    this.daemons.push(daemon);
    return daemon.start();
  }

  /** Has a client closed at the end, before the daemons are stopped. */
  closeLater(client) {
    this.clients.push(client);
    return client;
  }

  async editor(daemon) {
    return this.closeLater(await Editor.connect(daemon));
  }

  async mcp(daemon) {
    return this.closeLater(await Mcp.connect(daemon));
  }

  async claude() {
    return this.closeLater(await Claude.start());
  }

  /** Closes clients and stops a daemon before the end of the test. */
  async release(daemon, ...clients) {
    for (const client of clients) await client.close();
    await daemon.stop();
    daemon.removeScratch();
    this.daemons = this.daemons.filter((other) => other !== daemon);
    this.clients = this.clients.filter((other) => !clients.includes(other));
  }

  async finish() {
    for (const client of this.clients) await client.close();
    for (const daemon of this.daemons) await daemon.stop();
  }

  clear() {
    for (const client of this.clients) client.close();
    for (const daemon of this.daemons) {
      daemon.endNow();
      daemon.removeScratch();
    }
    for (const directory of this.directories) fs.rmSync(directory, { recursive: true, force: true });
  }
}
