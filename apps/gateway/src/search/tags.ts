/** A document that votes for its labels. */
export interface Voter {
  readonly id: string;
  /** Its score with the query picture, 0 to 1. */
  readonly score: number;
  readonly labels: readonly string[];
}

export interface PredictedTag {
  readonly tag: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** The documents with the label, most similar first. */
  readonly voters: readonly Voter[];
}

/**
 * Labels by the votes of neighbours. Each votes for all of its labels with the square of its score, so that a near one
 * counts for more than several that are hardly similar. The confidence of a label is its share of all votes, multiplied
 * by the score of its best voter. It is near 1 only if the neighbours agree and one of them is nearly the same picture.
 * A picture without similar ones gets low values, however much its neighbours agree.
 *
 * @param voters most similar first
 * @returns by falling confidence, equal ones by name
 */
export function voteForTags(voters: readonly Voter[]): PredictedTag[] {
  const all = voters.reduce((sum, voter) => sum + weightOf(voter), 0);
  const byTag = new Map<string, Voter[]>();
  for (const voter of voters) {
    for (const label of new Set(voter.labels)) {
      const others = byTag.get(label);
      if (others === undefined) byTag.set(label, [voter]);
      else others.push(voter);
    }
  }
  const tags = [...byTag].map(([tag, own]) => {
    const votes = own.reduce((sum, voter) => sum + weightOf(voter), 0);
    const confidence = all === 0 ? 0 : Math.min((votes / all) * (own[0]?.score ?? 0), 1);
    return { tag, confidence, voters: own };
  });
  return tags.sort((a, b) => b.confidence - a.confidence || (a.tag < b.tag ? -1 : 1));
}

function weightOf({ score }: Voter): number {
  return score * score;
}
