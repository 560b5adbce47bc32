import { describe, expect, it } from '@jest/globals';
import { downloadSettings, IMAGES_OPTIONS } from './images-options.ts';
import { parseOptions } from './options.ts';

const COMMAND = { name: 'serve', usage: 'serve', description: '', options: IMAGES_OPTIONS };
const read = (args: string[], env: NodeJS.ProcessEnv = {}) => downloadSettings(parseOptions(COMMAND, args, env));

describe('the options for downloads of pictures', () => {
  it('say nothing to hosts but akin by default', () => {
    expect(read([])).toEqual({
      policy: { allowLoopback: false, allowPrivate: false, allowHosts: [] },
      limits: { downloadMilliseconds: 15_000 },
      userAgent: 'akin',
      headers: [],
      proxies: { except: [] },
    });
  });

  it('come from flags, or from variables with one header a line', () => {
    const headers = [
      { host: 'a.example', name: 'Authorization', value: 'Bearer a=b: c' },
      { host: '::1', port: '8080', name: 'x-key', value: '1' },
    ];
    const lines = ['A.example=Authorization: Bearer a=b: c', '[::1]:8080=x-key:1'];
    expect(read(lines.flatMap((line) => ['--image-header', line])).headers).toEqual(headers);
    const env = { AKIN_IMAGE_HEADER: `${lines.join('\n')}\n`, AKIN_IMAGE_TIMEOUT: '60', AKIN_IMAGE_USER_AGENT: 'shop' };
    expect(read([], env)).toMatchObject({ headers, limits: { downloadMilliseconds: 60_000 }, userAgent: 'shop' });
  });

  it('take the usual variables of proxies', () => {
    const env = { HTTPS_PROXY: 'http://u:p@proxy:3128', http_proxy: 'proxy:80', NO_PROXY: 'localhost, .internal' };
    expect(read([], env).proxies).toEqual({
      https: new URL('http://u:p@proxy:3128'),
      http: new URL('http://proxy:80'),
      except: ['localhost', '.internal'],
    });
  });

  it.each([
    ['--image-header', 's3cr3t'],
    ['--image-header', 'a.example=s3cr3t'],
    ['--image-header', 'a.example=Authorization:'],
    ['--image-header', '=Authorization: s3cr3t'],
    ['--image-header', 'a.example=X Key: s3cr3t'],
    ['--image-header', 'https://a.example=X-Key: s3cr3t'],
    ['--image-header', 'user@a.example=X-Key: s3cr3t'],
    ['--image-header', 'a.example=X-Key: s3cr3t\u0001'],
    ['--image-header', 'a.example=X-Key: s3cr3t€'],
    ['--image-header', 'a.example=Host: s3cr3t'],
    ['--image-user-agent', 's3cr3t\n'],
    ['--image-timeout', '0'],
    ['--image-timeout', '601'],
    ['--image-timeout', '1.5'],
    ['--https-proxy', 'socks5://user:s3cr3t@proxy'],
    ['--http-proxy', 'http://user:s3cr3t@'],
  ])('refuse %s %j by the name of the option, without its value', (flag, value) => {
    expect(() => read([flag, value])).toThrow(flag);
    expect(() => read([flag, value])).not.toThrow(/s3cr3t/);
  });
});
