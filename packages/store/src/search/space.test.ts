import { createRandom, EARTH_RADIUS_KILOMETERS, type Location, parseGeodist, parseQuery } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import type { SearchRequest } from './request.ts';
import { search } from './search.ts';
import { parseSort } from './sort.ts';
import { boxAround } from './space.ts';

/** Towns with distances known from elsewhere, the corners of the map, and a document without a place. */
const PLACES: Record<string, string | undefined> = {
  berlin: '52.52,13.405',
  hamburg: '53.5511,9.9937',
  munich: '48.1351,11.582',
  paris: '48.8566,2.3522',
  suva: '-18.1416,178.4419',
  apia: '-13.8333,-171.7667',
  pole: '90,0',
  'near pole': '89.5,170',
  'south pole': '-90,-180',
  'date line east': '0,180',
  'date line west': '0,-180',
  nowhere: undefined,
};

/** The angle between two unit vectors: another formula than the one under test. */
function kilometersBetween(a: Location, b: Location): number {
  const vector = ({ lat, lon }: Location) => {
    const [phi, lambda] = [(lat * Math.PI) / 180, (lon * Math.PI) / 180];
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)] as const;
  };
  const [p, q] = [vector(a), vector(b)];
  const cross = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
  return EARTH_RADIUS_KILOMETERS * Math.atan2(Math.hypot(...cross), p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
}

describe.each(ENGINES)('space on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  const scattered = new Map<string, Location>();

  sharedStore(kind, async (opened) => {
    store = opened;
    collection = await createCollection(store, 'map');
    const random = createRandom(7);
    for (let i = 0; i < 400; i++) {
      scattered.set(`p${i}`, { lat: Math.asin(2 * random() - 1) * (180 / Math.PI), lon: random() * 360 - 180 });
    }
    await accept(store, collection, [
      ...Object.entries(PLACES).map(([id, location], i) => ({ id, sort: 'town', location, size: i % 3 })),
      ...[...scattered].map(([id, { lat, lon }]) => ({ id, sort: 'point', location: `${lat},${lon}` })),
    ]);
    await commit(store, collection);
  });

  const find = (q: string, request: Partial<SearchRequest> = {}, parameters: Record<string, string> = {}) =>
    search(store, collection, {
      query: parseQuery(q, { parameter: (name) => parameters[name] }),
      filters: [parseQuery('sort:town')],
      sort: parseSort('id asc'),
      rows: 500,
      ...request,
    });
  const ids = async (q: string, parameters: Record<string, string> = {}) =>
    (await find(q, {}, parameters)).hits.map(({ id }) => id).join(', ');

  itOnPostgres.each([
    ['{!geofilt pt=52.52,13.405 d=255}', 'berlin'],
    ['{!geofilt pt=52.52,13.405 d=256}', 'berlin, hamburg'],
    ['{!geofilt pt=52.52,13.405 d=0}', 'berlin'],
    ['{!geofilt pt=52.52,13.405 d=880 sfield=location}', 'berlin, hamburg, munich, paris'],
    ['{!bbox pt=52.52,13.405 d=240}', 'berlin, hamburg'],
    ['{!bbox pt=52.52,13.405 d=220}', 'berlin'],
    ['{!geofilt pt=-16,-177 d=800}', 'apia, suva'],
    ['{!bbox pt=-16,-177 d=800}', 'apia, suva'],
    ['{!geofilt pt=0,179.99 d=2}', 'date line east, date line west'],
    ['{!geofilt pt=0,-180 d=0.001}', 'date line east, date line west'],
    ['{!bbox pt=0,-179.99 d=2}', 'date line east, date line west'],
    ['{!geofilt pt=89.9,-10 d=100}', 'near pole, pole'],
    ['{!geofilt pt=89.9,-10 d=15}', 'pole'],
    ['{!bbox pt=89.9,-10 d=15}', 'pole'],
    ['{!bbox pt=89.9,-10 d=60}', 'near pole, pole'],
    ['{!geofilt pt=-89.9,77 d=12}', 'south pole'],
    ['{!geofilt pt=90,12 d=0.001}', 'pole'],
    ['location:[-90,-180 TO 90,180] -{!geofilt pt=0,0 d=20000}', 'date line east, date line west'],
    ['location:[48,2 TO 53,14]', 'berlin, munich, paris'],
    ['location:[-20,170 TO -10,-170]', 'apia, suva'],
    ['{!frange l=1 u=260}geodist(52.52,13.405)', 'hamburg'],
    ['{!frange l=0 u=0 incl=false pt=52.52,13.405}geodist()', ''],
    ['{!frange u=0 incu=false pt=52.52,13.405}geodist()', ''],
    ['{!frange l=1 u=2 incl=false}size', 'apia, munich, nowhere, south pole'],
  ])('%s finds %s', async (q, expected) => {
    expect(await ids(q)).toBe(expected);
  });

  itOnPostgres('takes what the filter leaves out from the request, and goes together with other clauses', async () => {
    const request = { pt: '52.52,13.405', d: '300', sfield: 'location' };
    expect(await ids('{!geofilt}', request)).toBe('berlin, hamburg');
    expect(await ids('{!geofilt d=1}', request)).toBe('berlin');
    expect(await ids('id:paris OR {!geofilt}', request)).toBe('berlin, hamburg, paris');
    expect(await ids('+{!geofilt} -id:berlin', request)).toBe('hamburg');
    expect(await ids('-{!geofilt d=20020}', request)).toBe('nowhere');
  });

  it('orders by distance, documents without a place last both ways, and pages through it', async () => {
    const order = async (sort: string, rows = 12) =>
      (await find('*:*', { sort: parseSort(sort, (name) => ({ pt: '52.52,13.405' })[name]), rows })).hits
        .map(({ id }) => id)
        .join(', ');
    expect(await order('geodist() asc', 4)).toBe('berlin, hamburg, munich, paris');
    expect(await order('geodist(location, 48.1351, 11.582) ASC, id desc', 2)).toBe('munich, berlin');
    expect(await order('size asc, geodist() asc', 2)).toBe('berlin, paris');
    expect((await order('geodist() desc')).split(', ').slice(-2)).toEqual(['berlin', 'nowhere']);
    expect((await order('geodist() asc')).split(', ').at(-1)).toBe('nowhere');
    let mark = '*';
    const seen: string[] = [];
    for (let page = 0; page < 20; page++) {
      const sort = parseSort('geodist(52.52,13.405) asc');
      const result = await find('*:*', { sort, rows: 5, cursorMark: mark });
      seen.push(...result.hits.map(({ id }) => id));
      if (result.nextCursorMark === mark) break;
      mark = result.nextCursorMark ?? '';
    }
    expect(seen.join(', ')).toBe(await order('geodist() asc'));
    await expect(find('*:*', { sort: parseSort('geodist(1,2) asc'), cursorMark: mark })).rejects.toThrow('cursorMark');
  });

  itOnPostgres('returns distances as they are', async () => {
    const berlin = parseGeodist('geodist(52.52,13.405)', () => undefined);
    const munich = parseGeodist('geodist(48.1351,11.582)', () => undefined);
    if (berlin === null || munich === null) throw new Error('no geodist');
    const { hits } = await find('id:(munich nowhere)', { distances: [berlin, munich] });
    expect(hits.map(({ distances }) => distances)).toEqual([
      [expect.closeTo(504.4, 0), 0],
      [null, null],
    ]);
  });

  itOnPostgres('scores by distance where that is asked for', async () => {
    const scores = async (q: string) =>
      (await find(q, { sort: parseSort('score asc'), rows: 20 })).hits.map(
        ({ id, score }) => `${id} ${score?.toFixed(0)}`,
      );
    expect((await scores('{!func}geodist(52.52,13.405)')).slice(0, 3)).toEqual([
      'berlin 0',
      'hamburg 255',
      'munich 504',
    ]);
    expect((await scores('{!func}geodist(52.52,13.405)')).at(-1)).toBe('nowhere 20015');
    expect(await scores('{!geofilt pt=52.52,13.405 d=300 score=miles}')).toEqual(['berlin 0', 'hamburg 159']);
    expect(await scores('{!geofilt pt=52.52,13.405 d=300 score=degrees}')).toEqual(['berlin 0', 'hamburg 2']);
    expect(await scores('{!geofilt pt=52.52,13.405 d=300}')).toEqual(['berlin 1', 'hamburg 1']);
  });

  it('holds in a circle what another formula says, anywhere on earth', async () => {
    const random = createRandom(11);
    const centers = [
      ...Array.from({ length: 25 }, () => ({ lat: random() * 180 - 90, lon: random() * 360 - 180 })),
      { lat: 90, lon: 0 },
      { lat: -89, lon: 179 },
      { lat: 10, lon: 180 },
      { lat: 10, lon: -179.5 },
    ];
    for (const center of centers) {
      const kilometers = random() ** 2 * 12_000;
      const near = [...scattered]
        .filter(([, place]) => kilometersBetween(center, place) <= kilometers)
        .map(([id]) => id);
      const area = `pt=${center.lat},${center.lon} d=${kilometers}`;
      const points = { filters: [parseQuery('sort:point')] };
      const circle = (await find(`{!geofilt ${area}}`, points)).hits.map(({ id }) => id);
      expect(circle).toEqual(near.sort());
      const box = new Set((await find(`{!bbox ${area}}`, points)).hits.map(({ id }) => id));
      expect(circle.filter((id) => !box.has(id))).toEqual([]);
    }
  });

  itOnPostgres.each([
    ['{!geofilt pt=1,2 d=3 sfield=sort}', 'distances need a location, and "sort" is a string'],
    ['{!bbox pt=1,2 d=3 sfield=locaton}', 'did you mean "location"'],
    ['{!frange u=1}geodist(size,1,2)', 'distances need a location, and "size" is a long'],
    ['{!func}geodist(nothing,1,2)', 'no document has a field "nothing"'],
  ])('refuses %s', async (q, problem) => {
    await expect(find(q)).rejects.toThrow(problem);
  });

  itOnPostgres('refuses orders and fields that are no distance', async () => {
    expect(() => parseSort('geodist() asc')).toThrow('needs pt=');
    expect(() => parseSort('geodist(1,2)')).toThrow('expected asc or desc');
    expect(() => parseSort('geodist(1,2) up')).toThrow('expected a name and asc or desc');
    await expect(find('*:*', { sort: parseSort('geodist(size,1,2) asc') })).rejects.toThrow('"size" is a long');
    const distances = [{ field: 'size', from: { lat: 0, lon: 0 } }];
    await expect(find('*:*', { distances })).rejects.toThrow('geodist() cannot be returned');
  });
});

describe('the box around a circle', () => {
  it('touches it', () => {
    expect(boxAround({ lat: 0, lon: 0 }, 0)).toEqual({ south: 0, north: 0, west: 0, east: 0 });
    const { south, north, west, east } = boxAround({ lat: 60, lon: 10 }, 1000);
    expect(north - 60).toBeCloseTo(8.993, 3);
    expect(60 - south).toBeCloseTo(8.993, 3);
    expect([west, east].map((lon) => Math.abs(lon - 10).toFixed(3))).toEqual(['18.218', '18.218']);
  });

  it('goes across the date line, and takes in a pole whole', () => {
    const across = boxAround({ lat: 0, lon: 179 }, 222.39);
    expect(across.west).toBeCloseTo(177, 2);
    expect(across.east).toBeCloseTo(-179, 2);
    expect(boxAround({ lat: 85, lon: 0 }, 600)).toMatchObject({ north: 90, west: -180, east: 180 });
    expect(boxAround({ lat: -85, lon: 0 }, 600)).toMatchObject({ south: -90, west: -180, east: 180 });
    expect(boxAround({ lat: 10, lon: 20 }, 30_000)).toEqual({ south: -90, north: 90, west: -180, east: 180 });
  });
});
