import { ENDPOINTS, type Endpoint } from '@akin/contract';
import { describe, expect, it } from '@jest/globals';
import { createGateway, postJson, testConfig } from '../../test/start-gateway.ts';
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
    sent(endpoint, ...own, 'wt', '_', 'version');
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
      expect(await refusal({ filter: value })).toEqual([
        400,
        '"filter" is unknown here, and nothing was changed: use scope, note, collections, origins, rate, expires.',
      ]);
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
