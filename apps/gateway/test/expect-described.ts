import { addresses, ENDPOINTS, type Endpoint } from '@akin/contract';
import { expect } from '@jest/globals';

const ROUTES = Object.values<Endpoint>(ENDPOINTS).flatMap((endpoint) =>
  addresses(endpoint, 'solr').map(([, path]) => {
    const pattern = path.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+');
    return { endpoint, pattern: new RegExp(`^${pattern}$`) };
  }),
);

/** Fails unless the contract describes every member of a successful response in JSON. */
export function expectDescribed(method: string, path: string, json: unknown): void {
  const [bare = ''] = path.split('?');
  const route = ROUTES.find(({ endpoint: { methods }, pattern }) =>
    methods.some((one) => one === method && pattern.test(bare)),
  );
  const { response } = route?.endpoint ?? {};
  if (response === undefined || typeof response === 'string') return;
  // What the contract does not know is left out.
  expect({ path, response: json }).toEqual({ path, response: response.parse(json) });
}
