// claude.mjs - the scripted Claude that comes with Paige, behind a proxy in which a test can disturb requests.
import { spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { PAIGED } from './daemon.mjs';
import { within } from './wait.mjs';

const DEMO = path.resolve(path.dirname(PAIGED), '..', 'workers', 'llm', 'paige-demo');

export class Claude {
  static async start() {
    const claude = new Claude();
    // It runs a program, tells it where it listens, and ends with it.
    claude.child = spawn(DEMO, ['sh', '-c', 'echo "$ANTHROPIC_BASE_URL"; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
    const line = new Promise((resolve, reject) => {
      claude.child.once('error', reject);
      claude.child.stdout.setEncoding('utf8').once('data', resolve);
    });
    claude.script = (await within('the address of the scripted Claude', 5000, line)).trim();
    claude.agent = new http.Agent({ keepAlive: true });
    claude.requests = []; // {at, key, body}, in the order in which they came
    claude.disturb = () => false; // (number, response) => true when it dealt with the request itself
    claude.server = http.createServer((request, response) => claude.#take(request, response));
    claude.server.keepAliveTimeout = 60000;
    await new Promise((resolve) => claude.server.listen(0, '127.0.0.1', resolve));
    return claude;
  }

  get url() {
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  /** From request number `first` on answers are held until `letGo`; they wait in `held`. */
  hold(first = 1) {
    this.held = [];
    this.disturb = (number, response) => {
      if (number < first) return false;
      this.held.push({ response, body: this.requests[number - 1].body });
      return true;
    };
  }

  /** The scripted Claude answers what is held, and what comes. */
  letGo() {
    this.disturb = () => false;
    for (const { response, body } of this.held.splice(0)) {
      const onward = http.request(`${this.script}/v1/messages`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' } });
      onward.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers)));
      onward.on('error', () => response.destroy());
      onward.end(JSON.stringify(body));
    }
  }

  async #take(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    this.requests.push({ at: Date.now(), key: request.headers['x-api-key'], body: JSON.parse(body.toString('utf8')) });
    if (this.disturb(this.requests.length, response)) return;
    const onward = http.request(this.script + request.url, { method: request.method, headers: request.headers, agent: this.agent });
    onward.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers)));
    onward.on('error', () => response.destroy());
    onward.end(body);
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
    this.agent.destroy();
    this.child.stdin.end();
  }
}
