import { findCollection } from '@akin/store/database';
import { expect, it } from '@jest/globals';
import { ask } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';

const service = useService({}, { searchMilliseconds: 1_000 });

it('a search that takes too long is stopped and says what to do, or gives a partial result if it allows that', async () => {
  const { sqlSchema } = await findCollection(service.store, 'my-collection');
  const search = (more = '') => ask(service.gateway, `/api/cores/my-collection/select?q=id:1${more}`);
  await service.store.engine.transaction(async (tx) => {
    // Searches wait for the end of this transaction, however fast the machine is.
    await tx.query(`lock table ${sqlSchema}.documents`);
    const { status, headers, json } = await search();
    expect([status, Number(headers['retry-after'])]).toEqual([503, expect.any(Number)]);
    expect(json.error.msg).toMatch(/longer than 1 seconds?.*timeAllowed/);
    const partial = await search('&timeAllowed=100');
    expect([partial.status, partial.json.responseHeader.partialResults]).toEqual([200, true]);
  });
});
