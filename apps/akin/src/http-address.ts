import { parseUrl } from '@akin/domain';
import { UsageError } from './options.ts';

/**
 * The URL of a server as a user writes it, also without `http://`. Slashes at the end are removed.
 * @throws {UsageError} if it is invalid
 */
export function httpAddress(option: string, text: string): string {
  const url = (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`).replace(/\/+$/, '');
  if (/^https?:\/\//i.test(url) && parseUrl(url) !== undefined) return url;
  throw new UsageError(`--${option} ${text} is not an http URL.`);
}
