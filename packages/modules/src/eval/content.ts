import { averagePrecision, meanOf, similarity } from './ranking.ts';

export interface Labelled {
  readonly label: string;
  readonly vectors: Readonly<Record<string, Float32Array>>;
}

export interface ContentFigures {
  readonly classes: number;
  readonly pictures: number;
  /** By the name of the descriptor. */
  readonly figures: Readonly<Record<string, { readonly map: number; readonly precisionAt1: number }>>;
  /** For each picture the average precision of `content` and what came first, for contact sheets. */
  readonly each: readonly {
    readonly picture: number;
    readonly precision: number;
    readonly nearest: readonly number[];
  }[];
}

const SHOWN = 6;

/** Each picture asks for the others of its class: mean average precision, and how often the first answer is of it. */
export function measureContent(pictures: readonly Labelled[]): ContentFigures {
  const names = Object.keys(pictures[0]?.vectors ?? {});
  const figures: Record<string, { map: number; precisionAt1: number }> = {};
  const each: { picture: number; precision: number; nearest: number[] }[] = [];
  for (const name of names) {
    const precisions: number[] = [];
    const firsts: number[] = [];
    for (const [i, asked] of pictures.entries()) {
      const vector = asked.vectors[name] as Float32Array;
      const answers = pictures
        .map((other, j) => ({ j, near: similarity(vector, other.vectors[name] as Float32Array) }))
        .filter(({ j }) => j !== i)
        .sort((a, b) => b.near - a.near || a.j - b.j);
      const relevant = answers.map(({ j }) => pictures[j]?.label === asked.label);
      const precision = averagePrecision(relevant);
      if (Number.isNaN(precision)) continue;
      precisions.push(precision);
      firsts.push(relevant[0] ? 1 : 0);
      if (name === 'content') each.push({ picture: i, precision, nearest: answers.slice(0, SHOWN).map(({ j }) => j) });
    }
    figures[name] = { map: meanOf(precisions), precisionAt1: meanOf(firsts) };
  }
  return { classes: new Set(pictures.map(({ label }) => label)).size, pictures: pictures.length, figures, each };
}
