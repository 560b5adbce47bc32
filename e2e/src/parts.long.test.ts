import { afterAll, beforeAll, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { type OwnAkin, serveOnPostgres } from './akin.ts';
import { triangles } from './pictures.ts';

let akin: OwnAkin;
let seven: Buffer;
beforeAll(async () => {
  akin = await serveOnPostgres(['--parts', '--collection', 'drawings']);
  const drawings = akin.client.collection('drawings');
  for (let seed = 1; seed <= 12; seed++) {
    const bytes = await triangles(seed);
    if (seed === 7) seven = bytes;
    await drawings.addPicture({ id: `d${seed}`, odd: seed % 2 === 1 }, new Blob([Uint8Array.from(bytes)]));
  }
  await drawings.commit();
});
afterAll(() => akin?.end());

interface Box {
  query: number[];
  document: number[];
  turn: number;
  scale: number;
  mirrored: boolean;
}

const search = async (bytes: Buffer, parameters = {}) => {
  const { response } = await akin.client
    .collection('drawings')
    .rank('parts', { fl: 'id,score,parts_box', ...parameters }, { file: Uint8Array.from(bytes) });
  return response;
};
const about = (numbers: readonly number[], expected: readonly number[]) =>
  expect(numbers.map((one, i) => Math.abs(one - (expected[i] as number)) < 0.04)).toEqual(expected.map(() => true));

it('finds the picture of a crop, and where the crop is in it', async () => {
  const crop = await sharp(seven).extract({ left: 300, top: 45, width: 270, height: 270 }).toBuffer();
  const { docs, numFound } = await search(crop);
  expect(docs.map(({ id }) => id)).toEqual(['d7']);
  expect(numFound).toBe(1);
  expect(docs[0]?.score).toBeGreaterThan(0.7);
  const [found] = docs as unknown as { parts_box: Box }[];
  const { query, document, turn, mirrored } = (found as { parts_box: Box }).parts_box;
  about(document, [0.5, 0.1, 0.45, 0.6]);
  about(query, [0, 0, 1, 1]);
  expect(Math.min(turn, 360 - turn)).toBeLessThan(2);
  expect(mirrored).toBe(false);
});

it('finds a document as the one most like itself, but not by a part of it', async () => {
  const drawings = akin.client.collection('drawings');
  const [first] = (await drawings.parts({ 'rank.by.id': 'd7' })).response.docs;
  expect(first).toMatchObject({ id: 'd7', score: 1 });
  const part = await drawings.parts({ 'rank.by.id': 'd7', 'rank.region': '0,0,0.6,1' });
  expect(part.response.maxScore).toBeLessThan(1);
});

it('finds both pictures of a collage, one of them mirrored, under filters, with counts', async () => {
  const four = await sharp(await triangles(4))
    .flop()
    .toBuffer();
  const collage = await sharp({ create: { width: 1200, height: 450, channels: 3, background: '#fff' } })
    .composite([
      { input: seven, left: 0, top: 0 },
      { input: four, left: 600, top: 0 },
    ])
    .jpeg()
    .toBuffer();
  const both = await search(collage, { facet: true, 'facet.field': 'odd' });
  expect(both.docs.map(({ id }) => id).sort()).toEqual(['d4', 'd7']);
  const boxOf = (id: string) => both.docs.find((one) => one.id === id)?.parts_box as unknown as Box;
  about(boxOf('d7').query, [0, 0, 0.5, 1]);
  about(boxOf('d4').query, [0.5, 0, 0.5, 1]);
  expect([boxOf('d7').mirrored, boxOf('d4').mirrored]).toEqual([false, true]);
  expect((await search(collage, { fq: 'odd:true' })).docs.map(({ id }) => id)).toEqual(['d7']);
  expect((await search(collage, { fq: '-id:d7', q: 'odd:true' })).numFound).toBe(0);
  expect((await search(collage, { rows: 1, start: 1 })).docs).toHaveLength(1);
  expect((await search(collage, { sort: 'id desc' })).docs.map(({ id }) => id)).toEqual(['d7', 'd4']);
});

it('pages by a cursor, and groups by a field', async () => {
  const both = await sharp({ create: { width: 1200, height: 450, channels: 3, background: '#fff' } })
    .composite([
      { input: seven, left: 0, top: 0 },
      { input: await triangles(4), left: 600, top: 0 },
    ])
    .jpeg()
    .toBuffer();
  const ids: unknown[] = [];
  for (let mark = '*'; ; ) {
    const page = await akin.client
      .collection('drawings')
      .rank('parts', { fl: 'id', rows: 1, cursorMark: mark }, { file: Uint8Array.from(both) });
    expect(page.response.numFound).toBe(2);
    ids.push(...page.response.docs.map(({ id }) => id));
    if (page.nextCursorMark === mark) break;
    mark = page.nextCursorMark as string;
  }
  expect(ids.sort()).toEqual(['d4', 'd7']);
  const heads = await search(both, { fq: '{!collapse field=odd}', facet: true, 'facet.field': 'odd' });
  expect(heads.numFound).toBe(2);
});

const copies = (parameters: object, bytes?: Buffer) =>
  akin.client
    .collection('drawings')
    .rank('duplicate', { fl: 'id,score', ...parameters }, bytes && { file: Uint8Array.from(bytes) });

it('finds the picture of a crop as a copy, with its box, under filters, with counts', async () => {
  const crop = await sharp(seven).extract({ left: 300, top: 45, width: 270, height: 270 }).toBuffer();
  const { response, facet_counts } = await copies(
    {
      fl: 'id,score,parts_box',
      fq: '{!tag=odd}odd:true',
      facet: true,
      'facet.field': ['odd', '{!ex=odd key=all}odd'],
    } as object,
    crop,
  );
  expect(response.numFound).toBe(1);
  expect(response.docs.map(({ id }) => id)).toEqual(['d7']);
  expect(response.docs[0]?.score).toBeGreaterThan(0.7);
  about((response.docs[0] as unknown as { parts_box: Box }).parts_box.document, [0.5, 0.1, 0.45, 0.6]);
  expect(facet_counts?.facet_fields.odd).toEqual(expect.arrayContaining(['true', 1]));
  expect((await copies({ fq: 'odd:false' }, crop)).response.numFound).toBe(0);
  // Without a threshold everything is ranked, and the picture with the common part comes first.
  const all = await copies({ 'rank.threshold': 0, rows: 3 }, crop);
  expect([all.response.numFound, all.response.docs[0]?.id]).toEqual([12, 'd7']);
  const none = await copies({ 'rank.threshold': 0, rows: 3, fq: '-id:d7' }, crop);
  expect([none.response.numFound, none.response.docs.length]).toEqual([11, 3]);
});

it('finds copies of a document by its points too, and shows its picture first', async () => {
  const drawings = akin.client.collection('drawings');
  const crop = await sharp(seven).extract({ left: 300, top: 45, width: 270, height: 270 }).toBuffer();
  await drawings.addPicture({ id: 'crop' }, new Blob([Uint8Array.from(crop)]), { commit: true });
  const { response, nextCursorMark } = await copies({ 'rank.by.id': 'crop', cursorMark: '*', rows: 1 });
  expect([response.numFound, response.docs[0]]).toEqual([2, { id: 'crop', score: 1 }]);
  const rest = await copies({ 'rank.by.id': 'crop', cursorMark: nextCursorMark as string, rows: 1 });
  expect(rest.response.docs.map(({ id }) => id)).toEqual(['d7']);
});

it('lists the crop as a part of its picture, until somebody says that they are different', async () => {
  const drawings = akin.client.collection('drawings');
  const { pairs, numFound, threshold } = await untilCurrent();
  expect([numFound, threshold]).toEqual([1, 0.74]);
  expect(pairs).toEqual([expect.objectContaining({ part: { id: 'crop' }, whole: { id: 'd7', odd: true } })]);
  expect(pairs[0]?.score).toBeGreaterThan(threshold);
  const box = pairs[0]?.parts_box;
  about(box?.whole ?? [], [0.5, 0.1, 0.45, 0.6]);
  about(box?.part ?? [], [0, 0, 1, 1]);
  about([box?.scale ?? 0], [0.45]);
  expect((await drawings.partPairs({ fq: 'odd:true' })).numFound).toBe(0);
  await drawings.decideGroups(['crop', 'd7'], 'different');
  expect(await drawings.partPairs()).toMatchObject({ numFound: 0, pairs: [] });
  await drawings.decideGroups(['crop', 'd7'], null);
  // A change that leaves the picture as it is keeps its pairs.
  await drawings.add([{ id: 'd7', odd: { set: false } }], { commit: true });
  expect((await untilCurrent()).pairs).toMatchObject([{ part: { id: 'crop' }, whole: { id: 'd7', odd: false } }]);
  await drawings.deleteByIds(['crop']);
  await drawings.commit();
  expect((await untilCurrent()).pairs).toEqual([]);
});

async function untilCurrent() {
  for (;;) {
    const page = await akin.client.collection('drawings').partPairs({ fl: 'odd' });
    if (page.numFoundExact) return page;
  }
}

it('finds nothing unrelated, and the picture of a document itself', async () => {
  expect((await search(await triangles(99))).numFound).toBe(0);
  const drawings = akin.client.collection('drawings');
  const { response, responseHeader } = await drawings.rank('parts', { 'rank.by.id': 'd3', fl: 'id' });
  expect(response.docs).toEqual([{ id: 'd3' }]);
  expect(responseHeader?.warnings).toEqual([expect.stringContaining('thumbnail')]);
});

it('finds the picture of a crop by the points of a document that has no picture', async () => {
  const drawings = akin.client.collection('drawings');
  const crop = await sharp(seven).extract({ left: 300, top: 45, width: 270, height: 270 }).toBuffer();
  const { outputs } = await drawings.analyze(Uint8Array.from(crop));
  await drawings.add([{ id: 'imported', import: outputs }], { commit: true });
  const { response, responseHeader } = await drawings.rank('parts', { 'rank.by.id': 'imported', fl: 'id' });
  expect(response.docs).toEqual([{ id: 'imported' }, { id: 'd7' }]);
  expect(responseHeader.warnings).toEqual([expect.stringContaining('stored points')]);
  await drawings.deleteByIds(['imported']);
  await drawings.commit();
});

it('adds points to pictures that have none when the collection is reindexed', async () => {
  const drawings = akin.client.collection('drawings');
  const late = await triangles(50);
  const parameters = { 'modules.apply': 'color,content,copyspace,duplicate', commit: true };
  await drawings.addPicture({ id: 'late' }, new Blob([Uint8Array.from(late)]), parameters);
  expect((await search(late)).numFound).toBe(0);
  const reindexed = await fetch(`${akin.url}/api/cores/drawings/reindex`, { method: 'POST' });
  expect(reindexed.status).toBe(202);
  let state: { state: string; analyzed: number; thumbnails: number };
  do {
    state = (await (await fetch(`${akin.url}/api/cores/drawings/reindex`)).json()) as typeof state;
  } while (!['done', 'failed'].includes(state.state));
  expect(state).toMatchObject({ state: 'done', analyzed: 1, thumbnails: 1 });
  expect((await search(late)).docs.map(({ id }) => id)).toEqual(['late']);
});

it('follows changes', async () => {
  const drawings = akin.client.collection('drawings');
  await drawings.addPicture({ id: 'copy' }, new Blob([Uint8Array.from(seven)]));
  await drawings.deleteByIds(['d7']);
  await drawings.commit();
  expect((await search(seven)).docs.map(({ id }) => id)).toEqual(['copy']);
});

it('says what is wrong with other inputs', async () => {
  const drawings = akin.client.collection('drawings');
  for (const parameters of [{ 'rank.by.hex': '#ff0000' }, { 'rank.by.id': ['d1', 'd2'] }]) {
    await expect(drawings.rank('parts', parameters)).rejects.toMatchObject({ status: 400 });
  }
  await expect(drawings.rank('parts', { 'rank.by.id': 'nobody' })).rejects.toMatchObject({ status: 404 });
});

it('is off for a collection with other modules', async () => {
  const plain = akin.client.collection('plain');
  const response = await fetch(`${akin.url}/api/cores/plain?modules=color,content`, { method: 'PUT' });
  expect(((await response.json()) as { modules: string[] }).modules).toEqual(['color', 'content']);
  await plain.addPicture({ id: 'd7' }, new Blob([Uint8Array.from(seven)]), { commit: true });
  const found = await plain.rank('parts', {}, { file: Uint8Array.from(seven) });
  expect([found.response.numFound, found.responseHeader.warnings]).toEqual([
    0,
    [expect.stringContaining('lack parts')],
  ]);
  const [document] = await plain.getByIds(['d7'], { fl: 'parts_points,color_names' });
  expect(Object.keys(document ?? {})).toEqual(['color_names']);
});
