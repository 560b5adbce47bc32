import { expect, it } from '@jest/globals';
import { connectionName, parseConnectionName } from './process-name.ts';

it('a process is known again by the name of its connections, as far as PostgreSQL keeps it', () => {
  const process = { role: 'analyze-node', version: '10.20.30', host: 'gateway-7d9f', pid: 4_194_304 };
  expect(parseConnectionName(connectionName(process))).toEqual(process);
  const odd = connectionName({ ...process, host: `büro ${'x'.repeat(100)}` });
  expect([odd.length, parseConnectionName(odd)?.host]).toEqual([63, expect.stringMatching(/^b\?ro\?x+$/)]);
  for (const other of ['akin', 'akin queue', 'psql', 'akin gateway 1.0.0 x host']) {
    expect(parseConnectionName(other)).toBeUndefined();
  }
});
