import { cp, link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AkinRequestError } from '@akin/client';
import { type TestDatabase, TINY_TOWERS } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { akinDatabase, RunningCommand, runInTurn, type ServingAkin, serveAkin, temporaryFolder } from './akin.ts';
import { copyOf, type PictureServer, picture, servePictures } from './pictures.ts';

const PICTURES = 110;

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let served: PictureServer;
let database: TestDatabase;
let akin: ServingAkin;
let model: string;
/** Ranked by one picture with the model. */
let liked: Awaited<ReturnType<typeof like>>;
const inPlace = (...names: string[]) => path.join(place.folder, ...names);

beforeAll(async () => {
  [place, database] = await Promise.all([temporaryFolder(), akinDatabase()]);
  served = await servePictures();
  await mkdir(inPlace('pictures'));
  for (let seed = 0; seed < PICTURES; seed++) {
    await writeFile(inPlace('pictures', `${seed}.jpg`), await picture(seed, 120, 90));
  }
  await cp(TINY_TOWERS, inPlace('model'), { recursive: true });
});
afterAll(async () => {
  await akin?.command.stop();
  await served?.[Symbol.asyncDispose]();
  await database?.drop();
  await place?.remove();
});

const serve = (...args: string[]) =>
  serveAkin(['--no-demo', '--data', inPlace('data'), '--database-url', database.url, ...args]);
const collection = () => akin.client.collection('my-collection');
const base64 = async (seed: number) => (await copyOf(await picture(seed, 120, 90))).toString('base64');
const like = async (id: string) =>
  (await collection().image({ 'rank.by.id': id, rows: 3, fl: 'id,score' })).response.docs;
const likePicture = async (seed: number) =>
  (await collection().image({ 'rank.by.data': await base64(seed), rows: 3, fl: 'id,score' })).response.docs;

/** The message of a refused request. */
async function refusal(request: Promise<unknown>): Promise<{ status: number; message: string }> {
  const error = await request.then(
    () => undefined,
    (reason) => reason as AkinRequestError,
  );
  expect(error).toBeInstanceOf(AkinRequestError);
  return { status: error?.status ?? 0, message: error?.message ?? '' };
}

describe('a content model of one’s own', () => {
  it('does not change when its calibration is stopped', async () => {
    const before = await readdir(inPlace('model'));
    // As many pictures as a calibration takes, and a file that is reported at once.
    await mkdir(inPlace('many'));
    await writeFile(inPlace('many', '0.txt'), 'no picture');
    for (let i = 0; i < 17 * PICTURES; i++) {
      await link(inPlace('pictures', `${i % PICTURES}.jpg`), inPlace('many', `${i}.jpg`));
    }
    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      const training = new RunningCommand(['train', inPlace('many'), '--content-model', inPlace('model')]);
      await training.waitForOutput(/0\.txt: /);
      expect(await training.stop(signal)).toMatchObject({
        code,
        out: '',
        err: expect.stringContaining(`Stopped by ${signal}. The folder of the model is unchanged.\n`),
      });
      expect(await readdir(inPlace('model'))).toEqual(before);
    }
  });

  it('is calibrated by one command', async () => {
    const { code, out } = await runInTurn(['train', inPlace('pictures'), '--content-model', inPlace('model')]);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^content=tiny-siglip:[0-9a-f]{8}, calibrated on 110 pictures\n$/),
    ]);
    [, model = ''] = /content=(\S+),/.exec(out) ?? [];
  });

  it('serves: pictures are indexed and found by it', async () => {
    akin = await serve('--content-model', inPlace('model'), inPlace('pictures'));
    await akin.command.waitForOutput(/Three requests to paste/);
    expect((await collection().select({ rows: 0 })).response.numFound).toBe(PICTURES);
    for (const seed of [3, 40, 99]) {
      expect((await like(`${seed}.jpg`))[0]?.id).toBe(`${seed}.jpg`);
      expect((await likePicture(seed))[0]?.id).toBe(`${seed}.jpg`);
    }
    liked = await like('40.jpg');
    const { outputs } = await collection().analyze({ data: await base64(5) }, { 'modules.apply': 'content' });
    const { content_descriptor } = JSON.parse(outputs) as { content_descriptor: string };
    expect(Buffer.from(content_descriptor, 'base64').toString('latin1')).toContain(`${model}/content`);
    await writeFile(inPlace('outputs.json'), outputs);
    await akin.command.stop();
  });

  it('is not mixed with another one in a collection, which still answers', async () => {
    akin = await serve();
    const content = new RegExp(`contains content descriptors of the model ${model}, but akin uses akin-`);
    expect(akin.command.err).toMatch(content);
    expect(akin.command.err).toContain('akin reindex --collection my-collection');
    const outputs = await readFile(inPlace('outputs.json'), 'utf8');
    for (const request of [
      collection().add([{ id: 'new', image: `${served.url}/1.jpg` }]),
      collection().add([{ id: 'new', import: '{}' }]),
      likePicture(3),
    ]) {
      expect(await refusal(request)).toEqual({ status: 409, message: expect.stringMatching(content) });
    }
    const foreign = akin.client.collection('foreign');
    await foreign.create();
    expect(await refusal(foreign.add([{ id: 'new', import: outputs }]))).toEqual({
      status: 400,
      message: expect.stringMatching(
        new RegExp(`was made by the model ${model}, but akin uses akin-.*cannot be mixed`),
      ),
    });
    expect(await refusal(foreign.image({ 'rank.by.outputs': outputs }))).toEqual({
      status: 400,
      message: expect.stringContaining('cannot be mixed'),
    });
    // What needs no outputs of this akin still works, with the scores of the model.
    expect(await like('40.jpg')).toEqual(liked);
    expect((await collection().color({ 'rank.by.hex': '0xFF0000', rows: 1 })).response.docs).toHaveLength(1);
    await collection().add([{ id: 'plain', title: 'no picture' }], { commit: true });
    expect((await collection().select({ rows: 0 })).response.numFound).toBe(PICTURES + 1);
  });

  it('can be in the same store as another one', async () => {
    const shop = akin.client.collection('shop');
    await shop.create();
    const documents = [1, 3, 6].map((seed) => ({ id: `${seed}`, image: `${served.url}/${seed}.jpg` }));
    await shop.add(documents, { commit: true, waitAnalysis: true });
    await akin.command.stop();
    akin = await serve('--content-model', inPlace('model'));
    // The network of akin is always here.
    expect(akin.command.err).not.toContain('contains content descriptors');
    expect((await likePicture(40))[0]?.id).toBe('40.jpg');
  });
});
