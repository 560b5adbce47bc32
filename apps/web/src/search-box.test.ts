import { describe, expect, it } from '@jest/globals';
import { readSearchBox } from './search-box.ts';

describe('the search box', () => {
  it.each([
    [' https://a.example/b c.jpg', { words: 'https://a.example/b c.jpg' }],
    [' https://a.example/b.jpg?c=d ', { query: { by: 'url', url: 'https://a.example/b.jpg?c=d' } }],
    ['javascript:alert(1)', { words: 'javascript:alert(1)' }],
    ['#E03C31', { query: { by: 'hex', hex: '#e03c31' } }],
    ['0xE03C31, #fff', { query: { by: 'hex', hex: '#e03c31,#ffffff' } }],
    ['Red', { query: { by: 'hex', hex: '#ff0000' } }],
    ['grey white', { query: { by: 'hex', hex: '#808080,#ffffff' } }],
    ['rgb(224, 60, 49)', { query: { by: 'hex', hex: '#e03c31' } }],
    ['rgb(0 0 0) white', { query: { by: 'hex', hex: '#000000,#ffffff' } }],
    ['rgb(256, 0, 0)', { words: 'rgb(256, 0, 0)' }],
    ['red lamp', { words: 'red lamp' }],
    ['constructor', { words: 'constructor' }],
    ['#12', { words: '#12' }],
    ['  ', { words: '' }],
  ])('reads %j', (text, asked) => {
    expect(readSearchBox(text)).toEqual(asked);
  });
});
