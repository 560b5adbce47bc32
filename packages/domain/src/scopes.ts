/** What a key allows. Each scope includes the ones before it. */
export const SCOPES = ['search', 'index', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

export function scopeIncludes(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}
