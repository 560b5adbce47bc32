import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@akin/testing';
import { expect, it } from '@jest/globals';
import { outcomeOf } from './shell.ts';

const PROGRAM = fileURLToPath(new URL('../../apps/akin/bin/akin.mjs', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/keys.md', import.meta.url));

/** Comes before the commands of the page: waits for akin, and ends it. */
const BEFORE = `
trap 'kill $(jobs -p) && wait' EXIT
ready() { until curl -sf "http://127.0.0.1:$PORT/health/ready" > /dev/null; do kill -0 $!; sleep 0.2; done; }
`;

it('the commands of docs/keys.md answer as it says, and print only new keys', async () => {
  const page = await readFile(PAGE, 'utf8');
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const expected = blocks.flatMap((block) => [...block.matchAll(/# (\d{3})$/gm)].map(([, status]) => status));
  expect(expected.length).toBeGreaterThan(10);
  const port = await freePort();
  const folder = await mkdtemp(path.join(tmpdir(), 'akin-keys-'));
  try {
    const npx = path.join(folder, 'npx');
    await writeFile(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`, { mode: 0o755 });
    const commands = blocks.map((block) => (block.includes(' serve ') ? `${block}ready\n` : block)).join('');
    const script = `${BEFORE}${commands.replaceAll('127.0.0.1:8983', `127.0.0.1:${port}`)}`;
    const others = Object.entries(process.env).filter(([name]) => !/^(AKIN_|DATABASE_URL|REDIS_URL)/.test(name));
    const { code, out, err } = await outcomeOf('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env: { ...Object.fromEntries(others), PORT: String(port), PATH: `${folder}:${process.env.PATH}` },
    });
    expect([code, err.replace(/^.*$/gm, (line) => (code === 0 ? '' : line)).trim()]).toEqual([0, '']);
    expect(out.split('\n').filter((line) => /^\d{3}$/.test(line))).toEqual(expected);
    const list = out.slice(out.indexOf('id  '));
    expect(list).toMatch(
      /admin .*Ada, operator\n.*index .*my-collection.*shop, nightly load\n.*search .*https:\/\/shop\.example/,
    );
    expect(`${out}${err}`).not.toMatch(/akin_[0-9a-z]{12}_[0-9a-f]/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
