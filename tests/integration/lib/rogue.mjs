// rogue.mjs - a daemon in which one worker was taken over: tests/bus/bus_rogue.c runs in its place, with its keys.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Daemon, PAIGED } from './daemon.mjs';
import { scratch, smallProject } from './project.mjs';
import { trojan } from './trojan.mjs';
import { until, within } from './wait.mjs';

const ROGUE = process.env.BUS_ROGUE ?? path.join(path.dirname(PAIGED), '..', 'tests', 'bus', 'bus_rogue');

export class Rogue {
  /** In the place of worker `name`, which may be confined as that is; every worker is ready. A store needs `said`: what it answers to every
   *  call from the beginning. */
  static async in(name, { env = {}, said, confined = false } = {}) {
    const rogue = new Rogue();
    rogue.name = name;
    rogue.root = scratch('rogue');
    rogue.#listen(path.join(rogue.root, 'rogue.sock'), said);
    rogue.daemon = new Daemon({ projectDir: smallProject(), dataDir: scratch('data'), env });
    if (name === 'gateway') rogue.daemon.get = async () => ({ status: 200 }); // nobody answers HTTP
    rogue.daemon.command = [trojan(rogue.root, (worker, program) =>
      (worker === name ? [`${confined ? 'ROGUE_CONFINED=1 ' : ''}ROGUE_SOCKET=${rogue.root}/rogue.sock exec ${ROGUE}`] : [`exec ${program} "$@"`]))];
    try {
      await rogue.daemon.start();
      await until('the rogue is there', () => rogue.socket);
      await rogue.told;
      await until('every worker is ready', async () => (await rogue.workers()).every((worker) => worker.state === 'ready'));
    } catch (error) {
      await rogue.close();
      throw error;
    }
    return rogue;
  }

  #listen(socketPath, said) {
    let text = '';
    this.waiting = [];
    this.server = net.createServer((socket) => {
      this.socket = socket;
      socket.setEncoding('utf8').on('error', () => {}); // it ends when the daemon is killed
      socket.on('data', (more) => {
        text += more;
        for (let end; (end = text.indexOf('\n')) >= 0; text = text.slice(end + 1)) this.waiting.shift()?.(text.slice(0, end));
      });
      if (said) this.told = this.ask(`say ${said}`);
    });
    this.server.listen(socketPath);
  }

  /** A command of bus_rogue.c; the numbers behind its "done". */
  async ask(line, ms = 30000) {
    const answer = new Promise((resolve) => this.waiting.push(resolve));
    this.socket.write(`${line}\n`);
    return (await within(`the rogue's answer to "${line}"`, ms, answer)).split(' ').slice(1).map(Number);
  }

  /** What status tells of the workers. */
  async workers() {
    const { stdout } = await this.daemon.ctl('status', '--json');
    return JSON.parse(stdout).workers;
  }

  /** Kills everything and removes what it made. */
  async close() {
    this.socket?.destroy();
    this.server.close();
    this.daemon.endNow();
    await this.daemon.ended;
    for (const dir of [this.root, this.daemon.projectDir, this.daemon.dataDir]) fs.rmSync(dir, { recursive: true, force: true });
    this.daemon.removeScratch();
  }
}
