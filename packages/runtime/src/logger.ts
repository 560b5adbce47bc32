import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { traceFields } from './spans.ts';

export type { Logger } from 'pino';

/** What most parts need of a logger. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where lines go: a whole line at a time, with its line break. */
interface LogDestination {
  write(line: string): void;
}

export interface LoggerConfig {
  /** Which process speaks. */
  readonly name: string;
  /** `trace`, `debug`, `info` (when not given), `warn`, `error`, `fatal` or `silent`. */
  readonly level?: string;
  /** Standard error when not given: standard output belongs to what a command was asked for. */
  readonly destination?: LogDestination;
  /** Lines for a reader instead of JSON; when not given, where standard error is a terminal. */
  readonly pretty?: boolean;
}

/**
 * A logger that writes one JSON object a line: `time` (ISO 8601), `level`, `name`, `pid`, `msg`, the fields of the call,
 * and `trace_id` and `span_id` where there is a span at work. Query strings, passwords in addresses, keys and image data are taken out of every line, wherever they stand.
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
  };
  return pino(options, {
    write(line: string) {
      const clean = withoutSecrets(line);
      target.write(forReader ? prettyLine(clean) : clean);
    },
  });
}

/** Says of bytes only how many there are. */
function withoutBytes(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      value instanceof Uint8Array ? `[${value.length} bytes]` : value,
    ]),
  );
}

/** Works on the JSON text, so that messages, stacks and nested fields are all covered. */
function withoutSecrets(line: string): string {
  return line
    .replace(/(\w+:\/\/[^\s"\\?#]*)\?[^\s"\\]*/g, '$1?[removed]')
    .replace(/\b(akin_[0-9a-z]{12}_)[0-9a-f]+/g, '$1[removed]')
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9+/_~.=-]{8,}/gi, '$1 [removed]')
    .replace(/(\w+:\/\/[^\s"\\/:@]*):[^\s"\\/@]+@/g, '$1:[removed]@')
    .replace(/[A-Za-z0-9+/_-]{200,}={0,2}/g, (data) => `[${data.length} characters removed]`);
}

function prettyLine(line: string): string {
  const { time, level, name: _name, pid: _pid, msg, err, ...fields } = JSON.parse(line);
  const rest = Object.entries(fields).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const stack = err?.stack === undefined ? '' : `\n${err.stack}`;
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${msg ?? ''}${rest.join('')}${stack}\n`;
}
