import { describe, expect, it } from '@jest/globals';
import { readLocalValue } from './local-value.ts';

describe('local parameters in front of a value', () => {
  const read = (text: string) => {
    const { local, value } = readLocalValue(text, (name) => (name === 'dt' ? 'type' : undefined));
    return { ...Object.fromEntries(local), value };
  };

  it('are taken off, the value is what follows or what they give as v', () => {
    expect(read('category')).toEqual({ value: 'category' });
    expect(read('{!ex=a,b key="the kind"}category')).toEqual({ ex: 'a,b', key: 'the kind', value: 'category' });
    expect(read('{!key=x v=$dt}')).toEqual({ key: 'x', v: 'type', value: 'type' });
    expect(read(' {!ex=a}b')).toEqual({ value: ' {!ex=a}b' });
  });

  it('are refused when they do not close or refer to nothing', () => {
    expect(() => read('{!ex=a')).toThrow('not closed');
    expect(() => read('{!ex=$none}a')).toThrow('no parameter "none"');
    expect(() => readLocalValue('{!terms=$it}a', () => 'x\0')).toThrow('the parameter it contains the character NUL');
  });
});
