import { MODULES } from '@akin/modules/manifests';
import { parseOutputs } from '@akin/modules/vectors';
import { commit, findCollection, openStore, type Store } from '@akin/store';
import { type FakeS3, fakeS3, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ask,
  createGateway,
  type Gateway,
  postJson,
  type TestLog,
  testConfig,
  testLog,
} from '../test/start-gateway.ts';

const C = '/api/cores/my-collection';
const WEBP = Buffer.from('UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAfQ//73v/+BiOh/AAA=', 'base64');

describe('a gateway whose bucket of outputs and thumbnails fails', () => {
  let s3: FakeS3;
  let database: TestDatabase;
  let store: Store;
  let gateway: Gateway;
  let log: TestLog;
  const before = { ...process.env };

  beforeAll(async () => {
    s3 = await fakeS3();
    Object.assign(process.env, s3.environment);
    database = await testDatabase();
    store = await openStore({
      databaseUrl: database.url,
      modules: MODULES,
      parseOutputs,
      objects: { location: `s3://${s3.bucket}/akin` },
    });
    log = testLog();
    const commitNow = async (name: string) => commit(store, await findCollection(store, name));
    gateway = await createGateway(testConfig({ store, log, commit: commitNow, makeThumbnail: async () => WEBP }));
  });

  afterAll(async () => {
    process.env = before;
    await gateway?.[Symbol.asyncDispose]();
    await store?.[Symbol.asyncDispose]();
    await database?.drop();
    await s3?.[Symbol.asyncDispose]();
  });

  const update = (id: string) =>
    postJson(gateway, `${C}/update?commit=true`, [{ id, import: '{}', thumbnail: WEBP.toString('base64') }]);
  const found = async () => (await ask(gateway, `${C}/select?q=*:*`)).json.response.numFound;

  it('refuses changes with pictures with 503 and accepts nothing of them; everything else continues', async () => {
    expect((await update('a')).status).toBe(200);
    s3.fail('denies');
    const refused = await update('b');
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect(refused.text).not.toContain(s3.bucket);
    expect(log.lines.map(({ fields }) => fields.cause)).toContain('AccessDenied');
    expect((await postJson(gateway, `${C}/update?commit=true`, [{ id: 'c' }])).status).toBe(200);
    expect(await found()).toBe(2);
    const thumbnail = await ask(gateway, `${C}/thumbnail?id=a`);
    expect(thumbnail).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    s3.fail(undefined);
    expect((await update('b')).status).toBe(200);
    expect(await found()).toBe(3);
  });

  it('does not read a thumbnail that the client has', async () => {
    const first = await ask(gateway, `${C}/thumbnail?id=a`);
    expect(first.status).toBe(200);
    s3.calls.clear();
    const headers = { 'if-none-match': first.headers.etag ?? '' };
    expect((await ask(gateway, `${C}/thumbnail?id=a`, { headers })).status).toBe(304);
    expect(s3.calls.get('GET')).toBeUndefined();
  });
});
