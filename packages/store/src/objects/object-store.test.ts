import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type FakeS3, fakeS3 } from '@akin/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openBucket } from './bucket.ts';
import type { ObjectStore } from './object-store.ts';
import { openObjectStore } from './open-object-store.ts';

const SOME = Buffer.from('0123456789');

let s3: FakeS3;
let parent: string;
const before = { ...process.env };

beforeAll(async () => {
  s3 = await fakeS3();
  Object.assign(process.env, s3.environment);
  parent = await mkdtemp(path.join(tmpdir(), 'akin-objects-'));
});

afterAll(async () => {
  process.env = before;
  await s3[Symbol.asyncDispose]();
  await rm(parent, { recursive: true });
});

const unavailable = { code: 'unavailable', retryAfterSeconds: 5 };

describe.each(['a folder', 'a bucket', 'a prefix in a bucket'])('objects in %s', (kind) => {
  let objects: ObjectStore;

  beforeEach(async () => {
    const location = { 'a folder': path.join(parent, 'some', 'objects'), 'a bucket': `s3://${s3.bucket}` }[kind];
    objects = await openObjectStore(location ?? `s3://${s3.bucket}/some/prefix/`);
  });

  afterEach(async () => {
    s3.objects.clear();
    await rm(path.join(parent, 'some'), { recursive: true, force: true });
    await objects[Symbol.asyncDispose]();
  });

  const listed = async () => {
    const keys = [];
    for await (const page of objects.list('packs/')) keys.push(...page.map(({ key }) => key));
    return keys.sort();
  };

  it('are read completely or in parts, and are gone after a delete', async () => {
    await objects.put('packs/ab/one', SOME);
    expect(await objects.get('packs/ab/one')).toEqual(SOME);
    expect(await objects.get('packs/ab/one', { from: 3, to: 6 })).toEqual(Buffer.from('345'));
    await objects.delete('packs/ab/one');
    await objects.delete('packs/ab/one');
    expect(await objects.get('packs/ab/one')).toBeUndefined();
  });

  it('are missing if a part of them is missing', async () => {
    await objects.put('packs/ab/one', SOME);
    expect(await objects.get('packs/ab/one', { from: 5, to: 11 })).toBeUndefined();
    expect(await objects.get('packs/ab/one', { from: 20, to: 30 })).toBeUndefined();
    expect(await objects.get('packs/ab/none', { from: 0, to: 1 })).toBeUndefined();
  });

  it('are listed, on any number of pages, with the time of their last change', async () => {
    expect(await listed()).toEqual([]);
    const keys = Array.from({ length: 8 }, (_, i) => `packs/${i % 2}/name ${i}`);
    for (const key of [...keys, 'other']) await objects.put(key, SOME);
    expect(await listed()).toEqual([...keys].sort());
    for await (const [first] of objects.list('packs/')) {
      expect(Math.abs(Date.now() - Number(first?.modified))).toBeLessThan(60_000);
    }
  });

  it('replace an object as a whole', async () => {
    await objects.put('akin', SOME);
    await objects.put('akin', Buffer.from('x'));
    expect(await objects.get('akin')).toEqual(Buffer.from('x'));
  });
});

describe('a bucket', () => {
  let objects: ObjectStore;
  beforeEach(async () => {
    objects = await openObjectStore(`s3://${s3.bucket}/x`);
    await objects.put('a', SOME);
    s3.calls.clear();
  });
  afterEach(async () => {
    s3.fail(undefined);
    await objects[Symbol.asyncDispose]();
  });

  it('is asked again if a request or a body is interrupted', async () => {
    s3.fail('away', 2);
    expect(await objects.get('a')).toEqual(SOME);
    s3.fail('away', 1);
    await objects.put('b', SOME);
    s3.fail('cuts bodies', 2);
    expect(await objects.get('a', { from: 0, to: 10 })).toEqual(SOME);
    expect(s3.calls.get('GET')).toBe(6);
  });

  it.each(['away', 'denies'] as const)('counts as unreachable if it %s', async (fault) => {
    s3.fail(fault);
    await expect(objects.get('a')).rejects.toMatchObject(unavailable);
    await expect(objects.put('b', SOME)).rejects.toMatchObject(unavailable);
    await expect(objects.delete('a')).rejects.toMatchObject(unavailable);
    await expect(objects.list('x/')[Symbol.asyncIterator]().next()).rejects.toMatchObject(unavailable);
  });

  it('counts as unreachable if it hangs, or hangs in a body', async () => {
    await using hurried = openBucket(s3.bucket, 'x', { connect: 500, response: 50, call: 400 });
    s3.fail('hangs');
    await expect(hurried.get('a')).rejects.toMatchObject(unavailable);
    await expect(hurried.put('b', SOME)).rejects.toMatchObject(unavailable);
    s3.fail('hangs in bodies');
    await expect(hurried.get('a')).rejects.toMatchObject(unavailable);
  });

  it('is not described to clients, and its errors are logged', async () => {
    s3.fail('denies');
    const error = await objects.get('a').catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ cause: { name: 'AccessDenied' } });
    expect((error as Error).message).not.toContain(s3.bucket);
  });

  it('that does not exist counts as unreachable, without missing objects', async () => {
    await using other = await openObjectStore('s3://other-bucket');
    await expect(other.get('a')).rejects.toMatchObject({ ...unavailable, cause: { name: 'NoSuchBucket' } });
  });
});

describe('a folder', () => {
  it('that is another one than before counts as unreachable: nothing is missing there, and nothing is written', async () => {
    const folder = path.join(parent, 'disk');
    await using objects = await openObjectStore(folder);
    await objects.put('packs/ab/one', SOME);
    await rename(folder, `${folder}-elsewhere`);
    await expect(objects.get('packs/ab/one')).rejects.toMatchObject(unavailable);
    await mkdir(folder);
    await expect(objects.get('packs/ab/one')).rejects.toMatchObject(unavailable);
    await expect(objects.put('packs/ab/two', SOME)).rejects.toMatchObject(unavailable);
    await rm(folder, { recursive: true });
    await rename(`${folder}-elsewhere`, folder);
    expect(await objects.get('packs/ab/one')).toEqual(SOME);
  });
});

describe('a location', () => {
  it.each(['gs://bucket', 's3://', 's3://UPPER/x', 's3://a', 's3://bucket/a?b', 'https://bucket'])(
    'cannot be %s',
    async (location) => {
      await expect(openObjectStore(location)).rejects.toMatchObject({ code: 'bad-request' });
    },
  );
});
