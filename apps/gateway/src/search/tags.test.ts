import { describe, expect, it } from '@jest/globals';
import { type Voter, voteForTags } from './tags.ts';

const voter = (id: string, score: number, ...labels: string[]): Voter => ({ id, score, labels });
const confidences = (...voters: Voter[]) =>
  Object.fromEntries(voteForTags(voters).map(({ tag, confidence }) => [tag, Number(confidence.toFixed(6))]));

describe('votes for tags', () => {
  it('have high confidence if the neighbours agree and one is the same picture', () => {
    expect(confidences(voter('a', 1, 'shoe'), voter('b', 0.5, 'shoe'))).toEqual({ shoe: 1 });
  });

  it('have the square of the score as weight', () => {
    expect(confidences(voter('a', 0.8, 'shoe'), voter('b', 0.4, 'hat'), voter('c', 0.4, 'hat'))).toEqual({
      shoe: Number(((0.64 / 0.96) * 0.8).toFixed(6)),
      hat: Number(((0.32 / 0.96) * 0.4).toFixed(6)),
    });
  });

  it('have low confidence for a picture without similar ones, even if the neighbours agree', () => {
    expect(confidences(voter('a', 0.1, 'shoe'), voter('b', 0.1, 'shoe'))).toEqual({ shoe: 0.1 });
    expect(confidences(voter('a', 0, 'shoe'))).toEqual({ shoe: 0 });
    expect(confidences()).toEqual({});
  });

  it('count a label once per document, and documents without one against all', () => {
    expect(confidences(voter('a', 1, 'x', 'x'), voter('b', 1))).toEqual({ x: 0.5 });
  });

  it('are sorted by falling confidence, then by name', () => {
    const tags = voteForTags([voter('a', 0.9, 'z', 'b'), voter('b', 0.5, 'b', 'a', 'c')]);
    expect(tags.map(({ tag, voters }) => [tag, ...voters.map(({ id }) => id)])).toEqual([
      ['b', 'a', 'b'],
      ['z', 'a'],
      ['a', 'b'],
      ['c', 'b'],
    ]);
  });
});
