import { randomNumbers } from '@akin/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, postJson } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';

const service = useService();
const [PLAIN, WITH_PARTS] = ['/api/cores/my-collection', '/api/cores/with-parts'];

/** The points of a picture of 400 x 300 pixels, or of its right half, as the module parts writes them. */
function points(seed: number, isHalf = false): string {
  const random = randomNumbers(seed);
  const [left, width] = isHalf ? [200, 200] : [0, 400];
  const long = Math.max(width, 300);
  const header = Buffer.from([2, 0, width & 255, width >> 8, 300 & 255, 300 >> 8]);
  const found: Buffer[] = [];
  for (let i = 0; i < 180; i++) {
    const [x, y, turn] = [400 * random() - left, 300 * random(), Math.floor(64 * random())];
    const point = Buffer.from(Array.from({ length: 20 }, () => 256 * random()));
    if (x < 0) continue;
    point.writeUInt32LE(Math.floor((2_048 * x) / long) | (Math.floor((2_048 * y) / long) << 11) | (turn << 22), 16);
    found.push(point);
  }
  return Buffer.concat([header, ...found]).toString('base64');
}

const importOf = (id: string, parts_points: string) =>
  JSON.stringify({ ...JSON.parse(outputsOf(id, ['duplicate'])), parts_points });

beforeAll(async () => {
  expect((await ask(service.gateway, `${WITH_PARTS}?modules=duplicate,parts`, { method: 'PUT' })).status).toBe(201);
  for (const collection of [PLAIN, WITH_PARTS]) {
    const documents = [
      { id: 'whole', import: importOf('red', points(1)) },
      { id: 'half', import: importOf('blue', points(1, true)) },
      { id: 'gone', import: importOf('gray', points(1, true)), image: 'http://a.example/missing.jpg' },
      { id: 'other', import: importOf('green', points(2)) },
      { id: 'no points', import: outputsOf('red') },
    ];
    expect((await postJson(service.gateway, `${collection}/update?commit=true`, documents)).status).toBe(200);
  }
});

async function search(query: string, collection = PLAIN) {
  const { status, json } = await ask(service.gateway, `${collection}/${encodeURI(query)}`);
  return { status, docs: json.response?.docs, warnings: json.responseHeader?.warnings, message: json.error?.msg };
}

describe('a search by a document whose picture cannot be read', () => {
  it.each([
    ['half', '', PLAIN],
    ['gone', '', PLAIN],
    ['half', '&rank.mode=duplicate', WITH_PARTS],
  ])('finds by the points of %s%s, and says so', async (id, mode, collection) => {
    const { docs, warnings } = await search(`parts?rank.by.id=${id}&fl=id,score,parts_box${mode}`, collection);
    expect(docs[0]).toMatchObject({ id, score: 1 });
    const whole = docs.find((one: { id: string }) => one.id === 'whole');
    expect(whole.score).toBeGreaterThan(0.8);
    expect(whole.parts_box.document[0]).toBeCloseTo(0.5, 1);
    expect(whole.parts_box.document[2]).toBeCloseTo(0.5, 1);
    expect(docs.map((one: { id: string }) => one.id).sort()).toEqual(['gone', 'half', 'whole']);
    expect(warnings).toEqual([expect.stringContaining(`"${id}" could not be read, so its stored points were used`)]);
  });

  it('is refused without points, and for a part of the picture', async () => {
    for (const query of ['rank.by.id=no points', 'rank.by.id=half&rank.region=0,0,1,0.5']) {
      expect(await search(`parts?${query}`)).toMatchObject({
        status: 400,
        message: expect.stringContaining('Send the picture itself'),
      });
    }
    expect((await search('parts?rank.by.id=nobody')).status).toBe(404);
  });
});

describe('a negative weight', () => {
  it('is refused by /parts', async () => {
    const { status, message } = await search('parts?rank.by.id=whole&rank.weights=-1');
    expect([status, message]).toEqual([400, expect.stringContaining('without a negative weight')]);
  });

  it('makes /duplicate find first what is unlike the picture, also by its points', async () => {
    const { docs } = await search('duplicate?rank.by.id=whole&rank.weights=-1&rank.threshold=0&fl=id', WITH_PARTS);
    const ids = docs.map(({ id }: { id: string }) => id);
    expect([ids.length, ids.slice(-2).sort()]).toEqual([5, ['no points', 'whole']]);
  });
});
