// fleet.js - what /health says, which everybody may know.
import { Value } from './store.js';

/**
 * @typedef {{status: string, uptime: number, version?: string, workers: Record<string, string>}} Health as GET /health has it
 * @typedef {{health: Health | null, at: number}} FleetNow
 * @typedef {Value<FleetNow>} Fleet
 */

const EVERY_MS = 5000;
const LIMIT_MS = 4000;

/**
 * Asks for /health while the page is seen.
 * @returns {Fleet}
 */
export function watchFleet() {
  /** @type {Fleet} */
  const fleet = new Value(/** @type {FleetNow} */ ({ health: null, at: 0 }));
  const look = async () => {
    if (document.hidden) return;
    try {
      // A daemon with a worker that is away says so with status 503, and still tells which.
      const health = await (await fetch('/health', { signal: within(LIMIT_MS) })).json();
      fleet.set({ health, at: Date.now() });
    } catch {
      fleet.set({ health: null, at: Date.now() });
    }
  };
  look();
  setInterval(look, EVERY_MS);
  document.addEventListener('visibilitychange', look);
  return fleet;
}

/** @param {number} ms */
function within(ms) {
  const control = new AbortController();
  setTimeout(() => control.abort(), ms);
  return control.signal;
}
