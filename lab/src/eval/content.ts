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
  /** For each picture, by its index: the average precision of `content` and the first results. */
  readonly each: readonly {
    readonly picture: number;
    readonly precision: number;
    readonly nearest: readonly number[];
  }[];
}

const SHOWN = 6;

/**
 * Each picture is a query for the others of its class: mean average precision, and how often the first result has the
 * same class. Null if there are fewer than two classes of two pictures; pictures that are alone in their class are
 * skipped.
 */
export function measureContent(all: readonly Labelled[]): ContentFigures | null {
  const classes = new Map<string, number>();
  for (const { label } of all) classes.set(label, (classes.get(label) ?? 0) + 1);
  const labelled = [...all.keys()].filter((i) => (classes.get(all[i]?.label as string) ?? 0) > 1);
  const labels = new Set(labelled.map((i) => all[i]?.label));
  if (labels.size < 2) return null;
  const figures: Record<string, { map: number; precisionAt1: number }> = {};
  const each: { picture: number; precision: number; nearest: number[] }[] = [];
  for (const name of Object.keys(all[0]?.vectors ?? {})) {
    const vectors = all.map(({ vectors }) => vectors[name] as Float32Array);
    const precisions: number[] = [];
    const firsts: number[] = [];
    const near = new Float64Array(all.length);
    for (const asked of labelled) {
      for (const i of labelled) near[i] = similarity(vectors[asked] as Float32Array, vectors[i] as Float32Array);
      const results = labelled
        .filter((i) => i !== asked)
        .sort((a, b) => (near[b] as number) - (near[a] as number) || a - b);
      const relevant = results.map((i) => all[i]?.label === all[asked]?.label);
      const precision = averagePrecision(relevant);
      precisions.push(precision);
      firsts.push(relevant[0] ? 1 : 0);
      if (name === 'content') each.push({ picture: asked, precision, nearest: results.slice(0, SHOWN) });
    }
    figures[name] = { map: meanOf(precisions), precisionAt1: meanOf(firsts) };
  }
  return { classes: labels.size, pictures: labelled.length, figures, each };
}
