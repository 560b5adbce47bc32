import { z } from 'zod';

/** The environment does not fit: the message names every variable that is wrong, and how. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/**
 * Reads variables of the environment, each by its piece; an empty one counts as not set.
 *
 * @throws EnvironmentError
 * @example readEnvironment({ PORT: envInteger(1, 65535).default(8983), CORS: envList }, process.env)
 */
export function readEnvironment<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<z.ZodObject<Shape>> {
  const set = Object.fromEntries(Object.keys(shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const result = z.object(shape).safeParse(set);
  if (result.success) return result.data;
  const wrong = result.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    return `  ${name}: ${set[name] === undefined ? 'is not set' : message}`;
  });
  throw new EnvironmentError(`These environment variables need another value:\n${wrong.join('\n')}`);
}

/** A whole number from `least` to `most`. */
export function envInteger(least: number, most: number) {
  const expected = `must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^-?\d+$/, expected)
    .transform(Number)
    .pipe(z.number().min(least, expected).max(most, expected));
}

/** `true` or `false`, also written 1 and 0. */
export const envSwitch = z
  .enum(['true', 'false', '1', '0'], { error: 'must be true or false' })
  .transform((text) => text === 'true' || text === '1');

/** Values between commas; none when not set. */
export const envList = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((part) => part.trim() || []));

/** An address that begins with one of these protocols, such as `postgres:`. What was given is not repeated: it may hold a password. */
export function envUrl(...protocols: string[]) {
  const expected = `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  return z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), expected);
}
