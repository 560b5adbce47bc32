import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError, parseDate, quote } from '@akin/domain';
import { createKey as create } from '@akin/store';
import type { Handler } from '../http/frame.ts';
import { presentKey } from './keys.ts';

const DAY_MILLISECONDS = 86_400_000;

/** Makes a key and tells its text, this once. */
export const createKey: Handler<ParametersOf<Endpoints['createKey']>> = async ({ parameters }, context) => {
  const { scope, note, rate, expires } = parameters;
  const collections = listed(parameters.collections);
  const { key, text } = await create(context.store, {
    scope,
    note,
    origins: listed(parameters.origins),
    ...(parameters.collections.length > 0 ? { collections } : {}),
    ...(rate === undefined ? {} : { rate }),
    ...(expires === undefined ? {} : { expiresAt: timeOf(expires) }),
  });
  await context.keyRing.reload();
  return { status: 201, body: { ...presentKey(key), key: text } };
};

function listed(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',').map((part) => part.trim())).filter(Boolean);
}

/** @throws AkinError bad-request */
function timeOf(text: string): Date {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  const time = days === undefined ? parseDate(text) : new Date(Date.now() + Number(days) * DAY_MILLISECONDS);
  if (time !== null) return time;
  throw new AkinError('bad-request', `Parameter expires must be a date, a time or days as 90d; it is ${quote(text)}.`);
}
