// wait.mjs - waiting for what must come. Tests never sleep for a result: they ask until it is there.

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Longest wait for anything that is asked for, unless told otherwise; long, since a sanitized daemon on a busy machine is slow. */
export const PATIENCE_MS = 60000;

/** Asks `probe` until it answers something truthy, and gives that; throws with `what` and the last answer or error. */
export async function until(what, probe, { ms = PATIENCE_MS, every = 25 } = {}) {
  const end = Date.now() + ms;
  let last;
  for (;;) {
    try {
      last = await probe();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}; last: ${brief(last)}`);
    await sleep(every);
  }
}

/** Throws when `promise` takes longer than `ms`. */
export async function within(what, ms, promise) {
  let timer;
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms: ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A value as one short line for messages. */
export function brief(value, limit = 400) {
  const text = value instanceof Error ? value.message : typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return text.length > limit ? `${text.slice(0, limit)}… (${text.length} characters)` : text;
}
