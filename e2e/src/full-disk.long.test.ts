import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { AkinRequestError } from '@akin/client';
import { smallDisk } from '@akin/testing';
import { expect, it } from '@jest/globals';
import { serveAkin, until } from './akin.ts';

/** Documents of 1 MB together, with values that PostgreSQL cannot compress. */
const batch = (n: number) =>
  Array.from({ length: 10 }, (_, i) => ({ id: `${n}-${i}`, note: randomBytes(75_000).toString('base64') }));

it('akin serve on a full disk refuses changes, still searches, and accepts changes when the disk is larger', async () => {
  await using disk = await smallDisk(96);
  const akin = await serveAkin(['--no-demo', '--data', path.join(disk.folder, 'data')], { AKIN_THREADS: '1' });
  await using _stopped = { [Symbol.asyncDispose]: async () => void (await akin.command.stop()) };
  const collection = akin.client.collection('my-collection');
  const find = async (q: string) => (await collection.select({ q, rows: 0 })).response.numFound;

  let accepted = 0;
  let refusal: AkinRequestError | undefined;
  while (refusal === undefined) {
    try {
      await collection.add(batch(accepted), { async: true });
      accepted++;
      // Changes that cannot be shown yet wait.
      await collection.commit().catch(() => undefined);
    } catch (error) {
      refusal = error as AkinRequestError;
    }
  }
  expect(refusal).toMatchObject({ status: 503, message: expect.stringMatching(/disk .* free some space/) });
  // Work under way or a checkpoint may free some space again, or use up what is left, so that the database cannot even
  // start.
  await until('changes are refused, and searches are answered', async () => {
    await disk.empty();
    await disk.fill(2);
    const response = await fetch(`${akin.url}/api/cores/my-collection/update`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[{"id":"later"}]',
    });
    const found = await find('id:0-0').catch(() => undefined);
    const ready = await fetch(`${akin.url}/health/ready`);
    const { warnings } = (await ready.json()) as { warnings?: readonly string[] };
    const current = await fetch(`${akin.url}/api/cores/my-collection`);
    const status = (await current.json()) as { responseHeader: { warnings?: string[] } };
    return (
      response.status === 503 &&
      Number(response.headers.get('retry-after')) > 0 &&
      found === 1 &&
      ready.status === 200 &&
      warnings?.length === 1 &&
      /free some space/.test(String(warnings[0])) &&
      status.responseHeader.warnings?.length === 1 &&
      /free some space/.test(String(status.responseHeader.warnings[0]))
    );
  });

  await disk.resize(600);
  await until('changes are accepted', async () => {
    await collection.add([{ id: 'after' }], { async: true }).catch(() => undefined);
    await collection.commit().catch(() => undefined);
    return (await find('id:after')) === 1;
  });
  await until('all is visible', async () => (await collection.status()).pending === 0);
  expect(await find('*:*')).toBeGreaterThanOrEqual(accepted * 10 + 1);
  for (let n = 0; n < accepted; n++) expect(await find(`id:${n}-*`)).toBe(10);
  expect(await collection.status()).toMatchObject({ failed: 0 });
  expect(await akin.command.stop()).toMatchObject({ code: 0 });
}, 600_000);
