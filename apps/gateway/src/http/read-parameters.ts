import { AkinError, type ErrorDetail } from '@akin/domain';
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
  const raw: Record<string, unknown> = {};
  const known = kindsOf(shape);
  const sent = new Map<string, string[]>();
  for (const [name, value] of list) {
    if (!known.has(name) || Object.hasOwn(inPath, name)) continue;
    const values = sent.get(name);
    if (values === undefined) sent.set(name, [value]);
    else values.push(value);
  }
  for (const [name, values] of sent) {
    if (known.get(name) === 'repeats') {
      const present = values.filter((value) => value !== '');
      if (present.length > 0) raw[name] = present;
    } else if (values[0] !== '' || known.get(name) === 'once') {
      raw[name] = values[0];
    }
  }
  for (const [name, value] of Object.entries(inPath)) if (known.has(name)) raw[name] = value;
  for (const [name, value] of Object.entries(raw)) refuseNul(name, value);
  const read = readSent(shape, raw);
  if (read !== undefined) return read;
  const result = shape.safeParse(raw);
  if (result.success) return result.data as Record<string, unknown>;
  const details = result.error.issues.map((issue): ErrorDetail => {
    const name = String(issue.path[0]);
    return { code: 'bad-request', msg: validationMessage(name, raw[name], issue) };
  });
  throw new AkinError('bad-request', details[0]?.msg ?? 'A parameter is malformed.', { details });
}

/**
 * Only those that were sent are parsed: an endpoint has dozens, and a request sends few.
 * @returns undefined if one is malformed or missing
 */
function readSent(shape: z.ZodObject, raw: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const types = shape.shape as Record<string, z.ZodType>;
  const values: Record<string, unknown> = {};
  for (const [name, absent] of defaultsOf(shape)) {
    if (Object.hasOwn(raw, name)) {
      const { success, data } = (types[name] as z.ZodType).safeParse(raw[name]);
      if (!success) return undefined;
      values[name] = data;
    } else if (absent === REQUIRED) {
      return undefined;
    } else if (absent !== undefined) {
      // Each request gets its own array, because it may change it.
      values[name] = Array.isArray(absent) ? [...absent] : absent;
    }
  }
  return values;
}

const REQUIRED = Symbol('required');

/** For each endpoint, the values of its parameters if they are not sent, by name. Undefined: no value. */
const DEFAULTS = new WeakMap<z.ZodObject, ReadonlyMap<string, unknown>>();

function defaultsOf(shape: z.ZodObject): ReadonlyMap<string, unknown> {
  const known = DEFAULTS.get(shape);
  if (known !== undefined) return known;
  const absent = new Map<string, unknown>();
  for (const [name, type] of Object.entries(shape.shape as Record<string, z.ZodType>)) {
    const { success, data } = type.safeParse(undefined);
    absent.set(name, success ? data : REQUIRED);
  }
  DEFAULTS.set(shape, absent);
  return absent;
}

/** How to read a parameter: all its values, the first one, or the first one unless it is blank. */
type ReadMode = 'repeats' | 'once' | 'once, not blank';

const READ_MODES = new WeakMap<z.ZodObject, ReadonlyMap<string, ReadMode>>();

function kindsOf(shape: z.ZodObject): ReadonlyMap<string, ReadMode> {
  const known = READ_MODES.get(shape);
  if (known !== undefined) return known;
  const kinds = new Map(
    Object.entries(shape.shape as Record<string, z.ZodType>).map(([name, type]) => [name, kindOf(type)]),
  );
  READ_MODES.set(shape, kinds);
  return kinds;
}

function kindOf(type: z.ZodType): ReadMode {
  if (repeats(type)) return 'repeats';
  const inner = unwrap(type);
  return inner instanceof z.ZodString && inner !== type ? 'once, not blank' : 'once';
}

/** No database stores NUL, so no stored text contains it. */
function refuseNul(name: string, value: unknown): void {
  for (const text of Array.isArray(value) ? value : [value]) {
    const at = String(text).indexOf('\0');
    if (at < 0) continue;
    throw new AkinError('bad-request', `Parameter ${name} contains the character NUL (U+0000) at character ${at + 1}.`);
  }
}

function validationMessage(name: string, value: unknown, issue: z.core.$ZodIssue): string {
  if (value === undefined) return `Parameter ${name} is required.`;
  const one = Array.isArray(value) ? value[Number(issue.path[1] ?? 0)] : value;
  const text = String(one);
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
