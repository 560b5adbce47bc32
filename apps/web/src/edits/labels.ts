import type { Collection } from '@akin/client';

/** As many as a list of a browser can offer. */
const MAX_SUGGESTIONS = 5_000;

/** The labels of a collection, the most frequent ones first, to suggest. The page works without them. */
export async function labelsOf(collection: Collection): Promise<readonly string[]> {
  try {
    const { terms } = await collection.listTerms({ 'terms.fl': 'labels', 'terms.limit': MAX_SUGGESTIONS });
    return (terms.labels ?? []).filter((_, i) => i % 2 === 0).map(String);
  } catch {
    return [];
  }
}

/** The labels that a person typed: commas separate them, unless it is a label that exists. Each once. */
export function labelsIn(text: string, existing: readonly string[]): readonly string[] {
  if (existing.includes(text)) return [text];
  const labels = text.split(',').map((label) => label.trim());
  return [...new Set(labels)].filter((label) => label !== '');
}
