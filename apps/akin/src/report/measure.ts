import { type Collection, type FoundDocument, field as fieldName, filter } from '@akin/client';

/** The quality of the content rankings of a collection, over a sample of its documents. */
export interface Measures {
  readonly collection: string;
  /** Content model, `name:hash`. Undefined before the first picture. */
  readonly model: string | undefined;
  readonly documents: number;
  /** Number of documents of the sample with a descriptor. The measures below are over these. */
  readonly sampled: number;
  readonly withoutDescriptor: number;
  /**
   * The share of the ten nearest documents (by an exact search) that an approximate search finds. Mean over the sample.
   */
  readonly recallAt10: number;
  /** Scores of the nearest other document: 10th, 50th and 90th percentile. */
  readonly nearestScores: readonly number[];
  readonly tenthScores: readonly number[];
  readonly nearDuplicates: number;
  /** Over all labelled documents of the sample, and by label. Absent without labels. */
  readonly labels?: { readonly all: LabelMeasures; readonly byLabel: ReadonlyMap<string, LabelMeasures> };
  readonly examples: readonly Example[];
}

export interface LabelMeasures {
  readonly documents: number;
  /** Mean average precision over the {@link AVERAGE_PRECISION_CUTOFF} nearest. */
  readonly map: number;
  /** Share of documents whose nearest other document has a label in common. */
  readonly precisionAt1: number;
}

interface Example {
  readonly id: string;
  readonly nearest: readonly { readonly id: string; readonly score: number }[];
}

export const AVERAGE_PRECISION_CUTOFF = 100;
const NEAREST = 10;
const EXAMPLES = 20;

export interface MeasureOptions {
  readonly ids: readonly string[];
  /** The field whose values say which documents belong together. */
  readonly labels: string | undefined;
  readonly signal: AbortSignal;
  readonly onDocument: () => void;
}

interface DocumentMeasures extends Example {
  readonly recall: number;
  readonly hasCopy: boolean;
  readonly labels: readonly string[];
  readonly averagePrecision: number | undefined;
  readonly isFirstRelevant: boolean;
}

/** @throws AkinRequestError if akin does not answer, or a field is unknown */
export async function measure(collection: Collection, options: MeasureOptions): Promise<Measures> {
  const { documents, model } = await collection.status();
  const asked: DocumentMeasures[] = [];
  let without = 0;
  for (const id of options.ids) {
    options.signal.throwIfAborted();
    const one = await measureDocument(collection, id, options);
    if (one === undefined) without++;
    else asked.push(one);
    options.onDocument();
  }
  const labelled = asked.filter(({ averagePrecision }) => averagePrecision !== undefined);
  const names = [...new Set(labelled.flatMap(({ labels }) => labels))].sort();
  const byLabel = new Map(
    names.map((name) => [name, labelMeasures(labelled.filter((one) => one.labels.includes(name)))]),
  );
  return {
    collection: collection.name,
    model: model && `${model.name}:${model.hash}`,
    documents,
    sampled: asked.length,
    withoutDescriptor: options.ids.length === 0 ? 0 : without / options.ids.length,
    recallAt10: mean(asked.map(({ recall }) => recall)),
    nearestScores: percentiles(asked.flatMap(({ nearest }) => nearest[0]?.score ?? [])),
    tenthScores: percentiles(asked.flatMap(({ nearest }) => nearest[NEAREST - 1]?.score ?? [])),
    nearDuplicates: mean(asked.map(({ hasCopy }) => Number(hasCopy))),
    ...(options.labels === undefined ? {} : { labels: { all: labelMeasures(labelled), byLabel } }),
    examples: asked.slice(0, EXAMPLES).map(({ id, nearest }) => ({ id, nearest })),
  };
}

async function measureDocument(
  collection: Collection,
  id: string,
  { labels }: MeasureOptions,
): Promise<DocumentMeasures | undefined> {
  const fl = ['id', 'score', ...(labels === undefined ? [] : [labels])].join(',');
  const depth = labels === undefined ? NEAREST : AVERAGE_PRECISION_CUTOFF;
  const question = { 'rank.by.id': id, rows: depth + 1, fl };
  const found = await nearestOf(collection, { ...question, 'rank.approximate': false });
  if (found === undefined) return undefined;
  const searched = (await nearestOf(collection, { ...question, rows: NEAREST + 1 })) ?? [];
  const own = labelsOf(
    found.find((one) => one.id === id),
    labels,
  );
  const others = found.filter((one) => one.id !== id);
  const exact = others.slice(0, NEAREST).map((one) => one.id);
  const seen = new Set(searched.map((one) => one.id));
  const right = others.map((one) => labelsOf(one, labels).some((label) => own.includes(label)));
  const copies = await collection.duplicate({ 'rank.by.id': id, rows: 2, fl: 'id' }).catch(() => undefined);
  return {
    id,
    nearest: others.slice(0, NEAREST).map((one) => ({ id: one.id, score: one.score ?? 0 })),
    recall: exact.length === 0 ? 1 : exact.filter((one) => seen.has(one)).length / exact.length,
    hasCopy: (copies?.response.numFound ?? 0) > 1,
    labels: own,
    averagePrecision: await averagePrecision(collection, labels, own, right),
    isFirstRelevant: right[0] === true,
  };
}

async function nearestOf(
  collection: Collection,
  question: Parameters<Collection['image']>[0],
): Promise<readonly FoundDocument[] | undefined> {
  try {
    return (await collection.image(question)).response.docs;
  } catch (error) {
    // 400: it has no descriptor. 404: it was deleted in the meantime.
    const { status } = error as { status?: number };
    if (status === 400 || status === 404) return undefined;
    throw error;
  }
}

/** Undefined if no other document has a label in common. */
async function averagePrecision(
  collection: Collection,
  field: string | undefined,
  own: readonly string[],
  right: readonly boolean[],
): Promise<number | undefined> {
  if (field === undefined || own.length === 0) return undefined;
  const { response } = await collection.select({ q: String(filter`${fieldName(field)}:${own}`), rows: 0 });
  const relevant = Math.min(response.numFound - 1, AVERAGE_PRECISION_CUTOFF);
  if (relevant < 1) return undefined;
  let hits = 0;
  let sum = 0;
  for (const [i, isRight] of right.entries()) {
    if (!isRight) continue;
    hits++;
    sum += hits / (i + 1);
  }
  return sum / relevant;
}

function labelsOf(document: FoundDocument | undefined, field: string | undefined): string[] {
  const value = field === undefined ? undefined : document?.[field];
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

function labelMeasures(asked: readonly DocumentMeasures[]): LabelMeasures {
  return {
    documents: asked.length,
    map: mean(asked.map(({ averagePrecision }) => averagePrecision ?? 0)),
    precisionAt1: mean(asked.map(({ isFirstRelevant }) => Number(isFirstRelevant))),
  };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percentiles(values: readonly number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  return [0.1, 0.5, 0.9].map((share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
}
