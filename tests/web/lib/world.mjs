// world.mjs - a daemon with the scripted Claude, a browser, and Claude Code's side.
import { launch } from './browser.mjs';

/** options: env, projectDir, dataDir. */
export async function world(t, { env, ...options } = {}) {
  const claude = await t.claude();
  const daemon = await t.daemon({ env: { ANTHROPIC_BASE_URL: claude.url, CLAUDE_SCRIPTED: 'yes', LLM_RETRY_BASE_MS: '200', ...env }, ...options });
  const { browser } = t.closeLater(await launch());
  return { claude, daemon, browser, mcp: await t.mcp(daemon) };
}

/** A file as Claude sees it, with what is unsaved. */
export const buffer = (mcp, path) => mcp.ok('paige_get_buffer', { path });
