import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('bin/akin.mjs', import.meta.resolve('akin-search/package.json')));
export const COLLECTION = 'my-collection';

/**
 * Starts `akin serve` as a separate process, as users do.
 *
 * @param {readonly string[]} args further flags
 * @param {readonly string[]} nodeFlags
 */
export async function startAkin(args, nodeFlags = []) {
  const flags = ['serve', '--no-demo', '--no-open', '--port', '0', ...args];
  const child = spawn(process.execPath, [...nodeFlags, PROGRAM, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await addressOf(child);
  return {
    url,
    pid: child.pid,
    collectionUrl: collectionUrl(url, COLLECTION),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null) {
        child.kill(signal);
        await once(child, 'exit');
      }
    },
  };
}

export const collectionUrl = (url, name) => `${url}/api/cores/${name}`;

async function addressOf(child) {
  let said = '';
  const exit = once(child, 'exit').then(() => {
    throw new Error(`akin ended: ${said}`);
  });
  const address = new Promise((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      const found = /answers at (http:\S+?)\/?\s/.exec(said);
      if (found) resolve(found[1]);
    });
  });
  return Promise.race([address, exit]);
}
