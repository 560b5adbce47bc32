import { validateHeaderName, validateHeaderValue } from 'node:http';
import { parseUrl } from '@akin/domain';
import type { DownloadSettings, HostHeader } from '@akin/imaging';
import { splitList } from './fleet/options.ts';
import { type Option, type ParsedOptions, UsageError } from './options.ts';

export const IMAGES_OPTIONS: readonly Option[] = [
  {
    name: 'allow-loopback-images',
    description: 'Download pictures from this machine, too. akin serve always does if only this machine can connect',
  },
  { name: 'allow-private-images', description: 'Download pictures from private networks, too' },
  {
    name: 'image-hosts',
    valueName: 'names',
    description: 'Hosts to download from even if they are private or this machine, separated by commas',
  },
  {
    name: 'image-user-agent',
    valueName: 'text',
    description: 'User-Agent of the requests for pictures',
    default: 'akin',
  },
  {
    name: 'image-header',
    valueName: 'entry',
    description:
      'A header for one host of pictures, as host=Name: value. May be repeated; in the variable, one a line. Other users of this machine can read a command line, but not the variable',
    isRepeatable: true,
  },
  {
    name: 'image-timeout',
    valueName: 'seconds',
    description:
      'Time limit for a download, without the lookup of the host name. The first download for a small update has at most 15 seconds',
    default: '15',
  },
  {
    name: 'https-proxy',
    valueName: 'url',
    description: 'HTTP proxy for pictures at https addresses. It must allow CONNECT',
    otherVariables: ['HTTPS_PROXY', 'https_proxy'],
  },
  {
    name: 'http-proxy',
    valueName: 'url',
    description: 'The same for http addresses',
    otherVariables: ['HTTP_PROXY', 'http_proxy'],
  },
  {
    name: 'no-proxy',
    valueName: 'hosts',
    description: 'Hosts of pictures that need no proxy: names with their subdomains, addresses, networks or *',
    otherVariables: ['NO_PROXY', 'no_proxy'],
  },
];

const MAX_TIMEOUT_SECONDS = 600;

/**
 * @param ownMachine whether pictures of this machine are downloaded if the switch was not given
 * @throws {UsageError} whose message contains no header and no proxy, because they may hold secrets
 */
export function downloadSettings(options: ParsedOptions, ownMachine = false): DownloadSettings {
  const seconds = options.number('image-timeout', MAX_TIMEOUT_SECONDS);
  if (seconds === 0) throw new UsageError('--image-timeout (or AKIN_IMAGE_TIMEOUT) must be at least 1 (second).');
  const userAgent = options.text('image-user-agent') ?? 'akin';
  if (!isHeader('user-agent', userAgent)) {
    throw new UsageError('--image-user-agent (or AKIN_IMAGE_USER_AGENT) has characters that a header cannot contain.');
  }
  const https = proxyUrl(options, 'https-proxy');
  const http = proxyUrl(options, 'http-proxy');
  return {
    policy: {
      allowLoopback: options.isOn('allow-loopback-images', ownMachine),
      allowPrivate: options.isOn('allow-private-images'),
      allowHosts: splitList(options.text('image-hosts')),
    },
    limits: { downloadMilliseconds: seconds * 1_000 },
    userAgent,
    headers: options.texts('image-header').flatMap((text) => text.split(/\r?\n/).flatMap(readHeader)),
    proxies: { ...(https && { https }), ...(http && { http }), except: splitList(options.text('no-proxy')) },
  };
}

function readHeader(line: string): HostHeader[] {
  if (line.trim() === '') return [];
  const [, host = '', name = '', value = ''] = /^\s*([^=\s/]+)=([^:\s]+):\s*(.*?)\s*$/.exec(line) ?? [];
  const url = parseUrl(`http://${host}`);
  if (
    url === undefined ||
    url.username ||
    url.password ||
    url.search ||
    url.hash ||
    value === '' ||
    !isHeader(name, value)
  ) {
    throw new UsageError(
      '--image-header (or AKIN_IMAGE_HEADER) must be host=Name: value, such as images.example.com=Authorization: Bearer abc. In the variable, each header has a line.',
    );
  }
  if (FRAMING.includes(name.toLowerCase())) {
    throw new UsageError(`--image-header (or AKIN_IMAGE_HEADER) cannot set ${name}: akin sets it.`);
  }
  const port = /:(\d+)$/.exec(host)?.[1];
  return [{ host: url.hostname.replace(/^\[|\]$/g, ''), ...(port && { port: String(Number(port)) }), name, value }];
}

/** Headers that say where a request goes and where it ends. */
const FRAMING = ['host', 'connection', 'content-length', 'transfer-encoding', 'expect', 'upgrade', 'te', 'trailer'];

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

function proxyUrl(options: ParsedOptions, name: string): URL | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const url = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url?.hostname && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new UsageError(
    `--${name} (or ${name.toUpperCase().replace('-', '_')}) must be the URL of an HTTP proxy, such as http://proxy.example.com:3128.`,
  );
}
