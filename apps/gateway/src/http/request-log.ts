import type { z } from 'zod';
import { isPayload, type ParameterList } from '../parameters/parameters.ts';

/** The longest value in a log line. */
const LONGEST = 200;

/**
 * Parameters for a log line: only those that the endpoint knows (an unknown one may be a key), never image data or
 * outputs, and URLs without their signatures. `logParamsList` restricts the list; if it is empty, nothing is logged.
 */
export function loggableParameters(shape: z.ZodObject, list: ParameterList): Record<string, string> | undefined {
  const wanted = list.find(([name]) => name === 'logParamsList')?.[1];
  const names = wanted?.split(',').map((name) => name.trim());
  const logged: Record<string, string> = {};
  for (const [name, value] of list) {
    if (!Object.hasOwn(shape.shape, name) || name === 'logParamsList') continue;
    if (names && !names.includes(name)) continue;
    const text = isPayload(name) ? payloadSize(value) : withoutSecrets(value);
    const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
    logged[name] = name in logged ? `${logged[name]} & ${shown}`.slice(0, 5 * LONGEST) : shown;
  }
  return Object.keys(logged).length > 0 ? logged : undefined;
}

/** For a file, its placeholder contains the size. */
export function payloadSize(value: string): string {
  return /^\(file \d+: \d+ bytes\)$/.test(value) ? value : `(${value.length} characters)`;
}

/**
 * Removes the passwords in URLs from a message, because others may read it or log it. The message may repeat a long
 * text of the client: the time is proportional to its length, because a match can only begin at `://`.
 */
export function withoutPasswords(text: string): string {
  return text.replace(/(?<=\w:\/\/)[^\s/"'@:]*:[^\s/"'@]*@/g, '[removed]@');
}

/** URLs without user, password, query and fragment, because signed URLs are secrets. */
function withoutSecrets(value: string): string {
  return value.replace(/(https?:\/\/)([^\s/"'@]*@)?([^\s"'?#]*)([?#][^\s"']*)?/gi, (_, scheme, _user, rest, query) =>
    query ? `${scheme}${rest}?…` : `${scheme}${rest}`,
  );
}
