import { parseArgs } from 'node:util';

/** One flag of a command. Its environment variable is `AKIN_` and the name in capitals. */
export interface Option {
  readonly name: string;
  readonly short?: string;
  /** The placeholder of its value in `--help`. Absent for a switch. */
  readonly valueName?: string;
  readonly description: string;
  readonly default?: string;
  readonly isRepeatable?: true;
  /** Environment variables in addition to `AKIN_…`, for example `DATABASE_URL`. */
  readonly otherVariables?: readonly string[];
}

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly description: string;
  readonly options: readonly Option[];
  readonly takesPositionals?: false;
}

export interface ParsedOptions {
  readonly positionals: readonly string[];
  /** The text of an option; undefined if it was not given. @throws {UsageError} when it is empty. */
  text(name: string): string | undefined;
  /** The texts of an option that may be repeated; empty if it was not given. @throws {UsageError} when one is empty. */
  texts(name: string): readonly string[];
  /** The URL of a server that begins with one of these schemes, as `redis`. Undefined if it was not given. */
  serverUrl(name: string, ...schemes: readonly string[]): string | undefined;
  /** Whether an option was given on the command line, not in the environment. */
  isGiven(name: string): boolean;
  /** @param byDefault the value if the switch was not given */
  isOn(name: string, byDefault?: boolean): boolean;
  /** A whole number, up to `max`. */
  number(name: string, max?: number): number;
}

/** A mistake in a command line: printed without a stack, exit code 1. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses a command line. Missing options come from the environment, then from the defaults.
 *
 * If an option that takes one value is given several times, the last value counts.
 *
 * @throws {UsageError} naming every unknown flag or malformed value, and a word where none is expected
 */
export function parseOptions(command: Command, args: readonly string[], env: NodeJS.ProcessEnv): ParsedOptions {
  const byName = new Map(command.options.map((option) => [option.name, option]));
  let values: Record<string, string | boolean | string[] | undefined>;
  let positionals: string[];
  try {
    const parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: Object.fromEntries([
        ...command.options.map(
          (option) =>
            [
              option.name,
              {
                type: option.valueName ? 'string' : 'boolean',
                multiple: option.isRepeatable === true,
                ...(option.short ? { short: option.short } : {}),
              },
            ] as const,
        ),
        ['help', { type: 'boolean', short: 'h' } as const],
      ]),
    });
    values = parsed.values as typeof values;
    positionals = parsed.positionals;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. To specify')[0]}\nSee: akin ${command.name} --help`);
  }
  const [word] = positionals;
  if (command.takesPositionals === false && word !== undefined) {
    throw new UsageError(
      `akin ${command.name} takes only options, not ${JSON.stringify(word)}.\nSee: akin ${command.name} --help`,
    );
  }
  const lookUp = (name: string): string | boolean | undefined => {
    const given = values[name];
    if (given !== undefined && !Array.isArray(given)) return given;
    const option = byName.get(name);
    if (!option) throw new Error(`akin ${command.name} has no option ${name}`);
    for (const variable of [environmentName(name), ...(option.otherVariables ?? [])]) {
      if (env[variable]) return env[variable];
    }
    return option.default;
  };
  const text = (name: string) => {
    const value = lookUp(name);
    if (value === '') throw new UsageError(`--${name} is empty: give it a value, or remove it.`);
    return value === undefined || typeof value === 'boolean' ? undefined : value;
  };
  return {
    positionals,
    text,
    texts(name) {
      const given = values[name];
      const all = Array.isArray(given) ? given : [text(name) ?? []].flat();
      if (all.includes('')) throw new UsageError(`--${name} is empty: give it a value, or remove it.`);
      return all;
    },
    serverUrl(name, ...schemes) {
      const value = text(name);
      if (value === undefined || schemes.some((scheme) => value.startsWith(`${scheme}://`))) return value;
      // Without its value, which may contain a password.
      const begins = schemes.map((scheme) => `${scheme}://`).join(' or ');
      throw new UsageError(`--${name} (or ${environmentName(name)}) must begin with ${begins}.`);
    },
    isGiven: (name) => values[name] !== undefined,
    isOn(name, byDefault = false) {
      const value = lookUp(name);
      if (value === undefined || typeof value === 'boolean') return value ?? byDefault;
      if (/^(1|true|yes|on)$/i.test(value)) return true;
      if (/^(0|false|no|off)$/i.test(value)) return false;
      throw new UsageError(`${environmentName(name)} must be true or false, not ${JSON.stringify(value)}.`);
    },
    number(name, max = 999_999_999) {
      const value = lookUp(name);
      if (typeof value !== 'string' || !/^\d{1,9}$/.test(value)) {
        throw new UsageError(
          `--${name} (or ${environmentName(name)}) must be a whole number, not ${JSON.stringify(value)}.`,
        );
      }
      if (Number(value) > max) {
        throw new UsageError(`--${name} (or ${environmentName(name)}) must be at most ${max}, not ${value}.`);
      }
      return Number(value);
    },
  };
}

function environmentName(option: string): string {
  return `AKIN_${option.toUpperCase().replaceAll('-', '_')}`;
}

export function helpText(command: Command): string {
  const lines = command.options.map((option) => {
    const flag = `  ${option.short ? `-${option.short}, ` : ''}--${option.name}${option.valueName ? ` <${option.valueName}>` : ''}`;
    const notes = [
      option.default === undefined ? '' : `default ${option.default}`,
      [environmentName(option.name), ...(option.otherVariables ?? [])].join(' or '),
    ].filter(Boolean);
    return `${flag.padEnd(30)} ${option.description} [${notes.join('; ')}]`;
  });
  return `Usage: akin ${command.usage}\n\n${command.description}\n\nOptions [default; environment variable]:\n${lines.join('\n')}\n`;
}
