/** What a key may be for. Each allows what those before it allow. */
export const SCOPES = ['search', 'index', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether a key that was made for one scope may do what another is needed for. */
export function allows(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}
