import { endpoint, integer, type ParametersOf, text } from '@akin/contract';
import { AkinError, MAX_SHARDS } from '@akin/domain';
import { z } from 'zod';
import type { FindCandidates } from '../config.ts';
import { readReserved } from '../http/pictures.ts';
import type { Handler } from '../http/serve.ts';

const MAX_READ_MILLISECONDS = 60_000;

/** What search nodes answer only to gateways. It is not part of the public interface, so it is not in the contract. */
export const CANDIDATES = endpoint({
  methods: ['POST'],
  scope: 'admin',
  mount: 'service',
  path: '/internal/candidates',
  summary: 'Finds candidates for a search in some shards of a collection.',
  parameters: z.object({ shards: text(), readMilliseconds: integer(0, MAX_READ_MILLISECONDS) }),
  bodies: { 'application/json': z.unknown() },
  streamsBody: true,
  response: 'application/json',
});

/** Answers requests of gateways; see `handleNodeRequest` of the store. */
export function candidates(find: FindCandidates): Handler<ParametersOf<typeof CANDIDATES>> {
  return async ({ parameters, body, reservation, signal }, { limits }) => {
    const shards = readShards(parameters.shards);
    const chunks: Uint8Array[] = [];
    for await (const chunk of readReserved(body, limits.parameterBytes, reservation, limits)) chunks.push(chunk);
    const question = Buffer.concat(chunks).toString('utf8');
    const bytes = await find(question, { shards, readMilliseconds: parameters.readMilliseconds, signal });
    return { type: 'application/json', bytes };
  };
}

function readShards(list: string): number[] {
  const shards = list.split(',').map(Number);
  const isList = shards.every((shard) => Number.isInteger(shard) && shard >= 0 && shard < MAX_SHARDS);
  if (isList && new Set(shards).size === shards.length) return shards;
  throw new AkinError('bad-request', `Parameter shards: must be numbers from 0 to ${MAX_SHARDS - 1}, each once.`);
}
