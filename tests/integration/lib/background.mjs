// background.mjs - tests that wait, beside the others of their file: node runs the tests of a file one after another.
import test from 'node:test';

/** With a pattern node runs few of the tests: what is not asked for must not run either. */
const FEW = process.execArgv.some((argument) => argument.startsWith('--test-name-pattern'));

/** Declares a test of what `play` gives: nothing, or why it was skipped. */
export const declare = (name, play) => test(name, async (t) => {
  const reason = await play();
  if (reason) t.skip(reason);
});

/**
 * Gives test(name, body): its bodies, each passed to `play`, begin in their order from the moment the first is declared, at most
 * `lanes` of them at a time. A reason that `play` gives makes the test count as skipped.
 */
export function inBackground(play, lanes = 1) {
  const queue = []; // functions that begin the next bodies
  let free = lanes;
  const inTurn = async (body) => {
    if (free > 0) free -= 1;
    else await new Promise((resolve) => queue.push(resolve));
    try {
      return await play(body);
    } finally {
      if (queue.length) queue.shift()();
      else free += 1;
    }
  };
  return (name, body) => {
    if (FEW) return declare(name, () => play(body));
    const result = inTurn(body);
    result.catch(() => {}); // told by the test below; the next one is played all the same
    return declare(name, () => result);
  };
}
