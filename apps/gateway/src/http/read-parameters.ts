import { AkinError, type ErrorDetail } from '@akin/domain';
import { z } from 'zod';
import type { ParameterList } from './parameters.ts';

/** The longest value that a message repeats. */
const SHOWN = 60;

/**
 * Values of the parameters of one endpoint out of all that came. Unknown ones are ignored; a text that is empty counts
 * as not sent; of a parameter that does not repeat the first value counts.
 *
 * @param inPath the names in the path, which win
 * @throws AkinError bad-request that names each parameter that is malformed or missing
 */
export function readParameters(
  shape: z.ZodObject,
  list: ParameterList,
  inPath: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const raw: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(shape.shape as Record<string, z.ZodType>)) {
    if (Object.hasOwn(inPath, name)) {
      raw[name] = inPath[name];
      continue;
    }
    const inner = unwrap(type);
    const values = list.filter(([sent]) => sent === name).map(([, value]) => value);
    if (inner instanceof z.ZodArray) {
      const present = values.filter((value) => value !== '');
      if (present.length > 0) raw[name] = present;
    } else if (values.length > 0 && !(values[0] === '' && inner instanceof z.ZodString && inner !== type)) {
      raw[name] = values[0];
    }
  }
  for (const [name, value] of Object.entries(raw)) refuseNul(name, value);
  const result = shape.safeParse(raw);
  if (result.success) return result.data as Record<string, unknown>;
  const details = result.error.issues.map((issue): ErrorDetail => {
    const name = String(issue.path[0]);
    return { code: 'bad-request', msg: complaint(name, raw[name], issue) };
  });
  throw new AkinError('bad-request', details[0]?.msg ?? 'A parameter is malformed.', { details });
}

/** No engine holds NUL, so nothing that is stored has it. */
function refuseNul(name: string, value: unknown): void {
  for (const text of Array.isArray(value) ? value : [value]) {
    const at = String(text).indexOf('\0');
    if (at < 0) continue;
    throw new AkinError('bad-request', `Parameter ${name} holds the character NUL (U+0000) at character ${at + 1}.`);
  }
}

function complaint(name: string, value: unknown, issue: z.core.$ZodIssue): string {
  if (value === undefined) return `Parameter ${name} is required.`;
  const one = Array.isArray(value) ? value[Number(issue.path[1] ?? 0)] : value;
  const text = String(one);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return `Parameter ${name} ${issue.message}; it is ${JSON.stringify(shown)}.`;
}

/** A type without its optionality and default. */
function unwrap(type: z.ZodType): z.ZodType {
  let inner = type;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap() as z.ZodType;
  return inner;
}
