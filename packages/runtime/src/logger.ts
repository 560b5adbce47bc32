import { type Logger, type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { traceFields } from './spans.ts';

export type { Logger } from 'pino';

/** The part of a logger that most modules need. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where to write lines: a whole line at a time, with its line break. */
interface LogDestination {
  write(line: string): void;
}

export interface LoggerConfig {
  readonly name: string;
  /** `trace`, `debug`, `info` (the default), `warn`, `error`, `fatal` or `silent`. */
  readonly level?: string;
  /** Default: standard error, because standard output belongs to the result of a command. */
  readonly destination?: LogDestination;
  /** Lines for people instead of JSON. Default: if standard error is a terminal. */
  readonly pretty?: boolean;
}

/**
 * A logger that writes one JSON object per line: `time` (ISO 8601), `level`, `name`, `pid`, `msg`, the fields of the
 * call, and `trace_id` and `span_id` if there is an active span. Query strings, passwords in URLs, keys and image data
 * are removed from every line, wherever they are. So are the commands in errors of Redis.
 */
export function createLogger({ name, level = 'info', destination, pretty }: LoggerConfig): Logger {
  const target = destination ?? process.stderr;
  const forReader = pretty ?? (destination === undefined && process.stderr.isTTY === true);
  const options: LoggerOptions = {
    name,
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    mixin: () => ({ ...traceFields() }),
    formatters: { level: (label) => ({ level: label }), log: withoutBytes },
    serializers: { err: (error) => withoutCommand(stdSerializers.err(error)) },
  };
  return pino(options, {
    write(line: string) {
      const clean = withoutSecrets(line);
      target.write(forReader ? prettyLine(clean) : clean);
    },
  });
}

/**
 * Removes the command that ioredis adds to each error. Its arguments may be the password, the data of a job or a whole
 * script.
 *
 * @param fields an error as pino serializes it; errors within it are serialized likewise
 */
function withoutCommand(fields: unknown): unknown {
  // Values of other types may form a cycle.
  if (typeof fields !== 'object' || fields === null || !('aggregateErrors' in fields)) return fields;
  const { command: _, ...kept } = fields as Record<string, unknown>;
  const { aggregateErrors } = kept;
  const cleaned = Object.entries(kept).map(([key, value]) => [key, withoutCommand(value)]);
  return {
    ...Object.fromEntries(cleaned),
    ...(Array.isArray(aggregateErrors) && { aggregateErrors: aggregateErrors.map(withoutCommand) }),
  };
}

function withoutBytes(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.values(fields).some((value) => value instanceof Uint8Array)) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Uint8Array ? `[${value.length} bytes]` : value,
    ]),
  );
}

/**
 * Works on the JSON text, so that messages, stacks and nested fields are all covered. A secret may follow an escaped
 * line break (`\n`), whose letter is not part of it.
 */
function withoutSecrets(line: string): string {
  return withoutUrlSecrets(line)
    .replace(/(akin_[0-9a-z]{12}_)[0-9a-f]+/g, '$1[removed]')
    .replace(/(\b|\\[nrt])(Bearer|Basic)\s+[A-Za-z0-9+/_~.=-]{8,}/gi, '$1$2 [removed]')
    .replace(/(?<!\\(?:u[0-9a-f]{0,3})?)[A-Za-z0-9+/_-]{200,}={0,2}/g, (data) => `[${data.length} characters removed]`);
}

function withoutUrlSecrets(line: string): string {
  // Most lines contain no URL.
  if (!line.includes('://')) return line;
  // A line may contain a long text of a client. Each match begins at `://` and none tries a character twice, so the
  // time is proportional to the length.
  return line
    .replace(/(?<=\w:\/\/)([^\s"\\?]*)(\?[^\s"\\]*)?/g, (_, rest, query) => (query ? `${rest}?[removed]` : rest))
    .replace(/(?<=\w:\/\/)([^\s"\\/:@]*):[^\s"\\/@]+@/g, '$1:[removed]@');
}

function prettyLine(line: string): string {
  const { time, level, name: _name, pid: _pid, msg, err, ...fields } = JSON.parse(line);
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const stack = err?.stack === undefined ? '' : `\n${String(err.stack).split('\n').map(printable).join('\n')}`;
  const text = printable(`${String(level).padEnd(5)} ${msg ?? ''}${rest.join('')}`);
  return `${String(time).slice(11, 19)} ${text}${stack}\n`;
}

/** Escapes control characters: those in a text of a client could move the cursor of the terminal or feign a line. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (one) =>
    one === '\n' ? '\\n' : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
