import { addresses, ENDPOINTS, type Endpoint } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, FORM_BODY, JSON_BODY } from '../../test/start-gateway.ts';
import { bearer, type Keyed, startKeyed } from '../../test/start-keyed.ts';

/*
 * Every secret contains a marker. The secrets are sent in every way to every endpoint, in valid and invalid requests.
 * Then the markers are searched for in the logs and responses of akin.
 */
const MARK = 'hunter2secret';
const SIGNED = `https://ada:${MARK}-password@pictures.example/red.png?signature=${MARK}-signed&x=1#${MARK}-fragment`;
const PICTURE = Buffer.from(`${MARK}-picture `.repeat(40)).toString('base64');
/** The base64 of the marker depends on its offset: one of these three is always present. */
const ENCODED = ['', 'x', 'xx'].map((before) => Buffer.from(`${before}${MARK}-pic`).toString('base64').slice(4, -4));

describe('secrets', () => {
  let keyed: Keyed;
  let logged = '';
  let output = '';
  const metrics = createMetrics();
  let failure: Error | undefined;

  beforeAll(async () => {
    const write = (line: string) => {
      logged += line;
    };
    const log = createLogger({ name: 'akin', level: 'trace', destination: { write } });
    keyed = await startKeyed(
      { addressRate: 100_000 },
      {
        log,
        metrics,
        analyze: async (input, modules) => {
          if (failure) throw failure;
          return { outputs: outputsOf('url' in input ? 'red' : 'blue', modules) };
        },
      },
    );
  });
  afterAll(async () => {
    await keyed?.[Symbol.asyncDispose]();
  });

  const send = async (path: string, options: Parameters<typeof ask>[2]) => {
    const response = await ask(keyed.gateway, path, options);
    if (response.status >= 400) output += `${response.status} ${JSON.stringify(response.headers)} ${response.text}\n`;
    return response;
  };

  function expectClean(secrets: readonly string[]): void {
    expect(logged.length).toBeGreaterThan(1_000);
    for (const secret of [...secrets, MARK, ...ENCODED]) {
      for (const [where, text] of [
        ['log', logged],
        ['errors', output],
      ] as const) {
        const at = text.indexOf(secret);
        expect([where, at < 0 ? '' : text.slice(Math.max(0, at - 300), at + 100)]).toEqual([where, '']);
      }
    }
  }

  it('are in no log, error or metric, whatever endpoint they are sent to and how', async () => {
    const wrong = `akin_${'0'.repeat(12)}_${'f'.repeat(64)}`;
    const secrets = [...Object.values(keyed.keys), wrong].map((key) => key.slice(18));
    const credentials = [
      bearer(keyed.keys.admin),
      bearer(keyed.keys.search),
      bearer(wrong),
      { 'x-api-key': keyed.keys.index },
      { authorization: `Basic ${Buffer.from(`ada:${MARK}-basic`).toString('base64')}` },
      { authorization: `Digest ${MARK}-digest`, cookie: `session=${MARK}-cookie` },
    ];
    const parameters = [
      `q=${encodeURIComponent(SIGNED)}&fq=title:${MARK}-unparsed%20AND%20(`,
      `rank.by.url=${encodeURIComponent(SIGNED)}&input.url=${encodeURIComponent(SIGNED)}&tagging.input.url=${encodeURIComponent(SIGNED)}`,
      `rank.by.data=${encodeURIComponent(PICTURE)}&input.data=${encodeURIComponent(PICTURE)}`,
      `rank.by.data=${encodeURIComponent(`data:image/png;base64,${PICTURE}`)}&logParamsList=`,
      `key=${keyed.keys.admin}&api_key=${keyed.keys.admin}&password=${MARK}-parameter&token=${keyed.keys.index}`,
    ];
    let turn = 0;
    for (const [name, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
      // These would end the requests of the others.
      if (['dropCollection', 'operationsStream'].includes(name)) continue;
      for (const [, path] of addresses(endpoint, 'solr')) {
        const address = path.replace('{collection}', 'my-collection').replace(/\{[^}]+\}/g, 'my-collection-1');
        for (const method of endpoint.methods) {
          // Every way and every secret reaches every endpoint, at one of its paths or with one of its methods.
          for (let times = 0; times < 3; times++, turn++) {
            const list = parameters[turn % parameters.length] as string;
            const headers = credentials[turn % credentials.length] as Record<string, string>;
            if (method === 'POST') await send(address, { body: list, headers: { ...FORM_BODY, ...headers } });
            else await send(`${address}?${list}`, { method, headers });
          }
        }
      }
    }
    // Queries may be logged, and are repeated if they cannot be parsed.
    logged = logged.replaceAll(`${MARK}-unparsed`, '');
    output = output.replaceAll(`${MARK}-unparsed`, '');
    expectClean(secrets);
    const figures = (await send('/metrics', { headers: bearer(keyed.keys.admin) })).text;
    for (const secret of [...secrets, MARK]) expect(figures).not.toContain(secret);
    expect(figures).toContain('akin_request_seconds');
  });

  it('are in none of them if a request is malformed, or something fails inside', async () => {
    const admin = bearer(keyed.keys.admin);
    const update = '/api/cores/my-collection/update';
    const documents = [
      { id: '1', image: SIGNED, title: `${MARK}-title` },
      { id: '2', import: `{"content_descriptor":"${PICTURE}"}`, thumbnail: PICTURE },
      { id: '3', image: `ftp://ada:${MARK}-ftp@x/`, n: `${MARK}` },
    ];
    await send(`${update}?async=true`, { body: JSON.stringify(documents[0]), headers: { ...JSON_BODY, ...admin } });
    await send(`${update}?async=true`, { body: JSON.stringify(documents), headers: { ...JSON_BODY, ...admin } });
    await send(update, { body: `{"id":"1","thumbnail":"${PICTURE}`, headers: { ...JSON_BODY, ...admin } });
    await send(update, {
      body: `<add><doc><field name="image">${SIGNED}</field>`,
      headers: { 'content-type': 'text/xml', ...admin },
    });
    await send(update, { body: PICTURE, headers: { 'content-type': 'image/png', ...admin } });
    await send(update, { body: PICTURE, headers: { ...JSON_BODY, 'content-encoding': 'gzip', ...admin } });
    await send(`/api/keys/${keyed.keys.index}`, { method: 'DELETE', headers: bearer(keyed.keys.search) });
    await send(`/api/nowhere/${MARK}?key=${keyed.keys.admin}`, { headers: admin });
    for (const error of [
      new AkinError('image-unreachable', 'The host answered 403.', { cause: new Error(`GET ${SIGNED} failed`) }),
      new AkinError('unavailable', 'No analyzer.', {
        cause: new Error(`POST with Bearer ${keyed.keys.index}: ${SIGNED} ${PICTURE}`),
      }),
      new Error(`cannot connect to postgres://akin:${MARK}-database@db/akin with ${keyed.keys.admin}`),
    ]) {
      failure = error;
      for (const query of [
        `rank.by.url=${encodeURIComponent(SIGNED)}`,
        `rank.by.data=${encodeURIComponent(PICTURE)}`,
      ]) {
        await send(`/api/cores/my-collection/image?${query}`, { headers: admin });
        await send('/api/cores/my-collection/image', { body: query, headers: { ...FORM_BODY, ...admin } });
      }
    }
    failure = undefined;
    // The sender learns what was wrong with a document: a URL without its secrets, and no picture.
    expect(output.match(/.{200}(-password|-signed|-fragment|-ftp)/)?.[0]).toBeUndefined();
    // The URL of a page that does not exist is repeated as it was requested.
    output = output.replaceAll(`/api/nowhere/${MARK}`, '');
    expectClean(Object.values(keyed.keys).map((key) => key.slice(18)));
  });
});
