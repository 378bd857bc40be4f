// mcp.mjs - Claude Code's side: the official MCP client. As Claude Code does, it opens a new session and repeats the call
// when the server no longer knows its session, or when the connection broke before an answer came.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { PATIENCE_MS, brief, sleep } from './wait.mjs';

export class Mcp {
  static async connect(daemon) {
    const mcp = new Mcp(daemon);
    await mcp.#open();
    return mcp;
  }

  constructor(daemon) {
    this.daemon = daemon;
    this.sessions = 0;
  }

  async #open() {
    this.client = new Client({ name: 'integration', version: '1.0.0' });
    this.transport = new StreamableHTTPClientTransport(new URL(`${this.daemon.url}/mcp`));
    this.client.onerror = () => {};
    await this.client.connect(this.transport);
    this.sessions += 1;
  }

  async tools() {
    return (await this.client.listTools()).tools;
  }

  /** One call on the session there is, without a second try: {isError, text}. Throws when no answer came. */
  async once(name, args = {}) {
    const result = await this.client.callTool({ name, arguments: args }, undefined, { timeout: PATIENCE_MS });
    return { isError: result.isError === true, text: result.content.map((block) => block.text).join('') };
  }

  /** The JSON of a call that must succeed in the end; tool errors are repeated too, until `ms` are over. */
  async ok(name, args = {}, { ms = PATIENCE_MS } = {}) {
    const end = Date.now() + ms;
    for (;;) {
      let problem;
      try {
        const { isError, text } = await this.once(name, args);
        if (!isError) return JSON.parse(text);
        problem = text;
      } catch (error) {
        problem = error.message;
        await this.reopen();
      }
      if (Date.now() > end) throw new Error(`${name} ${brief(args)} failed for ${ms} ms; last: ${problem}`);
      await sleep(20);
    }
  }

  /** A new session in place of the one there is. */
  async reopen() {
    await this.client.close().catch(() => {});
    await this.#open().catch(() => {});
  }

  async close() {
    await this.transport.terminateSession().catch(() => {});
    await this.client.close().catch(() => {});
  }
}
