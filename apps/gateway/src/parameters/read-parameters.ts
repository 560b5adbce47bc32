import { badRequest, type ErrorDetail } from '@akin/domain';
import { z } from 'zod';
import type { ParameterList } from './parameters.ts';

/** The longest value that a message repeats. */
const SHOWN = 60;

/**
 * The values of the parameters of one endpoint. Unknown names are ignored. An empty text counts as not sent. If a
 * parameter does not repeat, its first value counts.
 *
 * @param inPath the parameters in the path, which have priority
 * @throws AkinError bad-request that names each malformed or missing parameter
 */
export function readParameters(
  shape: z.ZodObject,
  list: ParameterList,
  inPath: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const readers = readersOf(shape);
  const sent = new Map<string, string[]>();
  for (const [name, value] of list) {
    if (!readers.has(name) || Object.hasOwn(inPath, name)) continue;
    const values = sent.get(name);
    if (values === undefined) sent.set(name, [value]);
    else values.push(value);
  }
  for (const [name, value] of Object.entries(inPath)) sent.set(name, [value]);
  const read: Record<string, unknown> = {};
  const details: ErrorDetail[] = [];
  for (const [name, { type, mode, absent }] of readers) {
    const value = sentValue(sent.get(name) ?? [], mode);
    if (value === undefined) {
      if (absent === REQUIRED) details.push({ code: 'bad-request', msg: `Parameter ${name} is required.` });
      // Each request gets its own array, because it may change it.
      else if (absent !== undefined) read[name] = Array.isArray(absent) ? [...absent] : absent;
      continue;
    }
    refuseNul(name, value);
    const { data, error } = type.safeParse(value);
    if (error === undefined) read[name] = data;
    else for (const issue of error.issues) details.push({ code: 'bad-request', msg: messageOf(name, value, issue) });
  }
  if (details.length === 0) return read;
  throw badRequest(details[0]?.msg ?? '', { details });
}

/** How to read a parameter: all its values, the first one, or the first one unless it is blank. */
type ReadMode = 'repeats' | 'once' | 'once, not blank';

interface Reader {
  readonly type: z.ZodType;
  readonly mode: ReadMode;
  /** The value if it is not sent. Undefined: no value. */
  readonly absent: unknown;
}

const REQUIRED = Symbol('required');

/** Of each endpoint, by the names of its parameters: to read them from the schema takes longer than most requests. */
const READERS = new WeakMap<z.ZodObject, ReadonlyMap<string, Reader>>();

function readersOf(shape: z.ZodObject): ReadonlyMap<string, Reader> {
  const known = READERS.get(shape);
  if (known !== undefined) return known;
  const readers = new Map(
    Object.entries(shape.shape as Record<string, z.ZodType>).map(([name, type]): [string, Reader] => {
      const { success, data } = type.safeParse(undefined);
      return [name, { type, mode: modeOf(type), absent: success ? data : REQUIRED }];
    }),
  );
  READERS.set(shape, readers);
  return readers;
}

function modeOf(type: z.ZodType): ReadMode {
  if (repeats(type)) return 'repeats';
  const inner = unwrap(type);
  return inner instanceof z.ZodString && inner !== type ? 'once, not blank' : 'once';
}

/** Undefined if it counts as not sent. */
function sentValue(values: readonly string[], mode: ReadMode): string | readonly string[] | undefined {
  const [first] = values;
  if (mode !== 'repeats') return first === '' && mode === 'once, not blank' ? undefined : first;
  const present = values.filter((value) => value !== '');
  return present.length === 0 ? undefined : present;
}

/** No database stores NUL, so no stored text contains it. */
function refuseNul(name: string, value: string | readonly string[]): void {
  for (const text of [value].flat()) {
    const at = text.indexOf('\0');
    if (at < 0) continue;
    throw badRequest(`Parameter ${name} contains the character NUL (U+0000) at character ${at + 1}.`);
  }
}

function messageOf(name: string, value: string | readonly string[], issue: z.core.$ZodIssue): string {
  const text = [value].flat()[Number(issue.path[0] ?? 0)] as string;
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return `Parameter ${name} ${issue.message}; it is ${JSON.stringify(shown)}.`;
}

/** Whether all values of a parameter count. */
export function repeats(type: z.ZodType): boolean {
  return unwrap(type) instanceof z.ZodArray;
}

function unwrap(type: z.ZodType): z.ZodType {
  let inner = type;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap() as z.ZodType;
  return inner;
}
