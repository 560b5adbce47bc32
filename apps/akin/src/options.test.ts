import { describe, expect, it } from '@jest/globals';
import { type Command, helpText, parseOptions, UsageError } from './options.ts';

const COMMAND: Command = {
  name: 'fly',
  usage: 'fly <where>',
  description: 'Flies.',
  options: [
    { name: 'height', valueName: 'n', description: 'Metres', default: '100', otherVariables: ['HEIGHT'] },
    { name: 'no-lights', description: 'In the dark' },
    { name: 'pilot', valueName: 'name', description: 'Who' },
    { name: 'stop', valueName: 'place', description: 'Where else', isRepeatable: true },
  ],
};
const parse = (args: string[], env: NodeJS.ProcessEnv = {}) => parseOptions(COMMAND, args, env);

describe('a command line', () => {
  it('is parsed into words, values and switches, in any order', () => {
    const options = parse(['home', '--height', '5', '--no-lights', '--pilot=Ada Lovelace', 'away']);
    expect(options.positionals).toEqual(['home', 'away']);
    expect([options.number('height'), options.isOn('no-lights'), options.text('pilot')]).toEqual([
      5,
      true,
      'Ada Lovelace',
    ]);
  });

  it('takes missing options from the environment, then from the defaults', () => {
    expect(parse([]).number('height')).toBe(100);
    expect(parse([], { HEIGHT: '7' }).number('height')).toBe(7);
    expect(parse([], { HEIGHT: '7', AKIN_HEIGHT: '8' }).number('height')).toBe(8);
    expect(parse(['--height=9'], { AKIN_HEIGHT: '8' }).number('height')).toBe(9);
    expect(parse([]).text('pilot')).toBeUndefined();
    expect(parse([], { AKIN_PILOT: '' }).text('pilot')).toBeUndefined();
  });

  it('distinguishes a switch that is off from one that is not given', () => {
    expect([parse([]).isOn('no-lights'), parse([]).isOn('no-lights', true)]).toEqual([false, true]);
    expect(parse([], { AKIN_NO_LIGHTS: 'false' }).isOn('no-lights', true)).toBe(false);
    expect(parse(['--no-lights'], { AKIN_NO_LIGHTS: 'false' }).isOn('no-lights')).toBe(true);
  });

  it('refuses an empty value, which a shell makes from an unset variable', () => {
    expect(() => parse(['--pilot=']).text('pilot')).toThrow('--pilot is empty');
  });

  it.each([
    ['1', true],
    ['TRUE', true],
    ['yes', true],
    ['on', true],
    ['0', false],
    ['False', false],
    ['no', false],
    ['off', false],
  ])('accepts %s for a switch in the environment', (text, value) => {
    expect(parse([], { AKIN_NO_LIGHTS: text }).isOn('no-lights')).toBe(value);
  });

  it('refuses unknown flags, and says where to look', () => {
    expect(() => parse(['--hieght', '5'])).toThrow(UsageError);
    expect(() => parse(['--hieght', '5'])).toThrow(/--hieght.*akin fly --help/s);
    expect(() => parse(['--height'])).toThrow(/--height/);
    expect(() => parse(['--no-lights=yes'])).toThrow(/no-lights/);
  });

  it.each(['five', '-1', '1.5', '', '1e3', '9999999999'])('refuses %j for a whole number', (text) => {
    expect(() => parse([`--height=${text}`]).number('height')).toThrow(/--height \(or AKIN_HEIGHT\)/);
  });

  it('refuses a whole number above its maximum', () => {
    expect(parse(['--height=65535']).number('height', 65_535)).toBe(65_535);
    expect(() => parse(['--height=65536']).number('height', 65_535)).toThrow(/--height.*at most 65535/);
  });

  it('refuses a switch that is neither on nor off', () => {
    expect(() => parse([], { AKIN_NO_LIGHTS: 'maybe' }).isOn('no-lights')).toThrow(
      'AKIN_NO_LIGHTS must be true or false',
    );
  });

  it('takes several values only for an option that may be repeated', () => {
    expect(parse(['--stop', 'a', '--stop=b']).texts('stop')).toEqual(['a', 'b']);
    expect(parse([]).texts('stop')).toEqual([]);
    expect(parse([], { AKIN_STOP: 'a' }).texts('stop')).toEqual(['a']);
    expect(() => parse(['--stop=a', '--stop=']).texts('stop')).toThrow('--stop is empty');
    expect(parse(['--pilot', 'Ada', '--pilot', 'Bo']).text('pilot')).toBe('Bo');
  });

  it('takes everything after -- as words', () => {
    expect(parse(['--', '--height']).positionals).toEqual(['--height']);
  });
});

describe('the help of a command', () => {
  it('contains the usage, every flag, its default and its environment variables', () => {
    expect(helpText(COMMAND)).toBe(`Usage: akin fly <where>

Flies.

Options [default; environment variable]:
  --height <n>                 Metres [default 100; AKIN_HEIGHT or HEIGHT]
  --no-lights                  In the dark [AKIN_NO_LIGHTS]
  --pilot <name>               Who [AKIN_PILOT]
  --stop <place>               Where else [AKIN_STOP]
`);
  });
});
