/** Where a result of the right side stands on the left one: `by` places higher, or nowhere. */
export type Move = { readonly kind: 'new' } | { readonly kind: 'moved'; readonly by: number };

/** @returns for each id on the right, by how many places it stands higher than on the left */
export function movesOf(left: readonly string[], right: readonly string[]): Move[] {
  const places = new Map(left.map((id, i) => [id, i]));
  return right.map((id, i) => {
    const before = places.get(id);
    return before === undefined ? { kind: 'new' } : { kind: 'moved', by: before - i };
  });
}
