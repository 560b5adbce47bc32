import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.ts';

function logged(work: (log: ReturnType<typeof createLogger>) => void, pretty = false): string {
  const lines: string[] = [];
  work(createLogger({ name: 'test', destination: { write: (line) => lines.push(line) }, pretty }));
  return lines.join('');
}

describe('the logger', () => {
  it('writes one JSON object a line', () => {
    const lines = logged((log) => {
      log.info({ collection: 'shoes', count: 2 }, 'committed');
      log.warn('odd\nmessage');
      log.debug('not at this level');
    }).split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      name: 'test',
      pid: process.pid,
      collection: 'shoes',
      count: 2,
      msg: 'committed',
    });
    expect(JSON.parse(lines[1] ?? '').msg).toBe('odd\nmessage');
  });

  it.each([
    ['a field', (log, url) => log.info({ url }, 'got it')],
    ['a nested field', (log, url) => log.info({ request: { image: { url } } }, 'got it')],
    ['the message', (log, url) => log.info(`fetched ${url} in time`)],
    ['an error', (log, url) => log.error({ err: new Error(`no response from "${url}"`) }, 'failed')],
  ] as [string, (log: ReturnType<typeof createLogger>, url: string) => void][])(
    'takes query strings and passwords out of addresses in %s',
    (_, log) => {
      const text = logged((logger) => log(logger, 'https://ann:s3cret@cdn.example/a/b.jpg?signature=abc&x=%20y'));
      expect(text).toContain('https://ann:[removed]@cdn.example/a/b.jpg?[removed]');
      expect(text).not.toMatch(/signature|s3cret/);
    },
  );

  it('takes the secrets of keys out, and keeps their ids', () => {
    const key = `akin_0123456789ab_${'0f'.repeat(32)}`;
    const text = logged((log) => {
      log.warn({ err: new Error(`refused ${key}`), headers: { authorization: `Bearer ${key}` } }, key);
      log.info({ authorization: 'Basic c29scjpTb2xyUm9ja3M=' }, 'asked');
    });
    expect(text).toContain('akin_0123456789ab_[removed]');
    expect(text).not.toMatch(/0f0f|c29scj/);
  });

  it('takes them out after a line break too, and leaves the line readable', () => {
    const key = `akin_0123456789ab_${'0f'.repeat(32)}`;
    const write = (log: ReturnType<typeof createLogger>) => {
      log.info({ text: `one\n${key}\nBearer abcdefghij\n${'x'.repeat(250)}\u001b${'y'.repeat(250)}` }, 'asked');
    };
    const text = logged(write);
    expect(text).not.toMatch(/0f0f|abcdefghij|xxxx|yyyy/);
    expect(JSON.parse(text).text).toContain('one\nakin_0123456789ab_[removed]\nBearer [removed]\n');
    expect(logged(write, true)).toContain('asked');
  });

  it('keeps addresses that hold nothing secret', () => {
    expect(logged((log) => log.info({ url: 'http://127.0.0.1:8983/a.jpg' }, 'x'))).toContain(
      '"http://127.0.0.1:8983/a.jpg"',
    );
  });

  // If the time grew with the square of the length, this would run for hours.
  it.each(['a', 'é ', 'a://', 'a://:'])('takes time proportional to the length of a text of %s', (piece) => {
    const text = `${piece.repeat(3_000_000)} a://b`;
    expect(JSON.parse(logged((log) => log.info({ text }, 'asked'))).text).toContain(' a://b');
  });

  it('takes image data out, as bytes and as base64', () => {
    const bytes = Buffer.alloc(300, 0xa7);
    const text = logged((log) => {
      log.info({ thumbnail: bytes, nested: { data: `data:image/png;base64,${bytes.toString('base64')}` } }, 'picture');
    });
    expect(JSON.parse(text)).toMatchObject({
      thumbnail: '[300 bytes]',
      nested: { data: 'data:image/png;base64,[400 characters removed]' },
    });
  });

  it.each([false, true])('takes the commands out of errors of Redis, as they hold passwords (pretty: %s)', (pretty) => {
    const refused = () =>
      Object.assign(new Error('WRONGPASS'), { command: { name: 'hello', args: ['3', 'AUTH', 'default', 's3cret'] } });
    const text = logged((log) => {
      log.warn({ err: refused() }, 'refused');
      log.warn(refused());
      log.warn({ err: new Error('no queue', { cause: refused() }) }, 'refused');
      log.warn({ err: Object.assign(new Error('no queue'), { previous: refused() }) }, 'refused');
      log.warn({ err: new AggregateError([refused(), new AggregateError([refused()])], 'no server') }, 'refused');
      const cyclic = Object.assign(refused(), { self: {}, code: 'ENOTIME' });
      Object.assign(cyclic.self, { cyclic: cyclic.self });
      log.warn({ err: cyclic }, 'refused');
    }, pretty);
    expect(text).toContain('WRONGPASS');
    expect(text).not.toMatch(/s3cret|AUTH/);
  });

  it('writes lines for a reader where asked, with the stack of an error', () => {
    const text = logged((log) => log.error({ err: new Error('broken'), collection: 'shoes' }, 'commit failed'), true);
    expect(text).toMatch(/^\d\d:\d\d:\d\d error commit failed collection=shoes\nError: broken\n {4}at /);
  });

  it('escapes control characters in lines for a reader', () => {
    const hostile = 'a\u001b[2J\u009b1A\r\n12:00:00 info';
    const escaped = 'a\\u001b[2J\\u009b1A\\u000d\\n12:00:00 info';
    const text = logged((log) => {
      log.info({ url: hostile, list: [hostile], [hostile]: 1 }, hostile);
      log.error({ err: new Error(hostile) }, 'failed');
    }, true);
    expect(text.split('\n')[0]).toContain(` ${escaped} url=${escaped} list=`);
    expect(text).toContain(`Error: a\\u001b[2J\\u009b1A\\u000d\n12:00:00 info\n    at `);
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});
