import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const MAIN = new URL('main.mjs', import.meta.url).pathname;
const TINY = '--documents 200 --seeds 40 --queries 6 --rounds 2 --changed 20 --window 0.2 --ef 10'.split(' ');

interface Report {
  readonly load: { readonly visiblePerSecond: number };
  readonly ranked: { title: string; sides: { title: string; times: number[]; recalls: number[]; short: number }[] }[];
  readonly clients?: { title: string; perSecond: number[] }[];
  readonly facets?: { title: string; akin: number[]; bare: number[] }[];
  readonly disturbance?: { title: string; times: number[] }[];
}

describe('the benchmark of searches, on 200 documents', () => {
  let folder: string;
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'akin-bench-test-'));
  });
  afterAll(async () => {
    await database?.drop();
    await rm(folder, { recursive: true });
  });

  async function run(...args: string[]): Promise<Report> {
    const out = join(folder, 'figures');
    await promisify(execFile)(process.execPath, [MAIN, ...TINY, '--folder', folder, '--out', out, ...args]);
    expect(await readFile(`${out}.md`, 'utf8')).toContain('| no filter');
    return JSON.parse(await readFile(`${out}.json`, 'utf8'));
  }

  it('loads PGlite and measures akin: every page full and right', async () => {
    const { load, ranked, disturbance } = await run('--measures', 'likeness,ranked,others,disturbance');
    expect(load.visiblePerSecond).toBeGreaterThan(0);
    for (const { sides } of ranked) {
      const [akin] = sides;
      expect(akin).toMatchObject({ title: 'akin over HTTP', short: 0 });
      expect(akin?.recalls).toEqual([1, 1, 1]);
    }
    expect(disturbance?.every(({ times }) => times.length > 0)).toBe(true);
  });

  it("measures pgvector's graph next to it on PostgreSQL: short pages under filters", async () => {
    database = await testDatabase();
    const { ranked, clients, facets } = await run(
      '--database-url',
      database.url,
      '--measures',
      'ranked,clients,facets',
    );
    const plain = ranked.map(({ title, sides }) => ({ title, ...sides[1] }));
    expect(plain[0]?.title).toBe('graph in SQL, ef 10');
    expect(plain.some(({ short }) => (short ?? 0) > 0)).toBe(true);
    expect(clients?.map(({ perSecond }) => perSecond.length)).toEqual([2, 2]);
    expect(facets?.every(({ akin, bare }) => akin.length === 2 && bare.length === 2)).toBe(true);
  });
});
