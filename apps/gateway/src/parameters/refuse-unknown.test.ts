import { ENDPOINTS, type Endpoint } from '@akin/contract';
import { describe, expect, it } from '@jest/globals';
import { ask, createGateway, JSON_BODY, postJson, testConfig } from '../../test/start-gateway.ts';
import { refuseUnknown } from './refuse-unknown.ts';

const sent = (endpoint: Endpoint, ...names: string[]) =>
  refuseUnknown(
    endpoint,
    names.map((name) => [name, 'x']),
    ['collection'],
  );

describe('a member that an endpoint does not know', () => {
  it.each([
    'createKey',
    'createCollection',
    'setQuota',
    'decideGroups',
    'reportRun',
    'defineFields',
    'reindex',
  ] as const)('is refused with the known ones where it could be taken for a setting: %s', (name) => {
    const endpoint: Endpoint = ENDPOINTS[name];
    const own = Object.keys(endpoint.parameters.shape).filter((one) => one !== 'collection');
    sent(endpoint, ...new Set([...own, 'wt']), '_', 'version');
    expect(() => sent(endpoint, 'maxdocuments')).toThrow(/^"maxdocuments" is unknown here, .*: use [a-zA-Z, -]+\.$/);
    // The path decides.
    expect(() => sent(endpoint, 'collection')).toThrow('"collection" is unknown here');
  });

  it('is ignored by searches and updates', () => {
    for (const name of ['select', 'image', 'update', 'updateJson', 'terms'] as const) sent(ENDPOINTS[name], 'nothing');
  });

  it('is refused in JSON whatever its value is, and so is an empty list of collections', async () => {
    await using gateway = await createGateway(testConfig());
    const refusal = async (body: object) => {
      const { status, json } = await postJson(gateway, '/api/keys', { scope: 'search', ...body });
      return [status, json.error.msg];
    };
    for (const value of ['type:public', null, [], {}, [{}], 5]) {
      expect(await refusal({ only: value })).toEqual([
        400,
        '"only" is unknown here, and nothing was changed: use scope, note, collections, origins, rate, expires, filter, set.',
      ]);
    }
    // A limit that is given twice could be read as either, so it is none.
    const twice = async (body: string, query = '') => {
      const { status, json } = await ask(gateway, `/api/keys${query}`, { body, headers: JSON_BODY });
      return [status, json.error.msg];
    };
    for (const [body, query] of [
      ['{"scope":"search","rate":1,"rate":9}'],
      ['{"scope":"search","collections":["a"],"collections":["b"]}'],
      ['{"scope":"search"}', '?scope=admin'],
      ['{"scope":"search","params":{"scope":"admin"}}'],
    ] as const) {
      expect(await twice(body, query)).toEqual([400, expect.stringContaining('is given twice')]);
    }
    // A limit in another spelling is refused or in force, and never dropped.
    for (const limit of [{ ORIGINS: ['no origin'] }, { COLLECTIONS: [] }, { RATE: {} }, { RATE: 'x' }]) {
      expect((await refusal(limit))[0]).toBe(400);
    }
    for (const collections of [[], [''], ',']) {
      expect(await refusal({ collections })).toEqual([400, expect.stringContaining('collections is empty')]);
    }
  });
});
