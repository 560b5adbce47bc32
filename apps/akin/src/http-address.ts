import { UsageError } from './options.ts';

/**
 * The address of a server as a person gives it, also without `http://`; without slashes at the end.
 * @throws {UsageError} when it is none
 */
export function httpAddress(option: string, text: string): string {
  const url = (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`).replace(/\/+$/, '');
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  throw new UsageError(`--${option} ${text} is no http URL.`);
}
