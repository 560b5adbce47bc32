/** What a key may be for: each allows what those before it do. */
export type Scope = 'search' | 'index' | 'admin';

/** A key without its secret. */
export interface Key {
  id: string;
  scope: Scope;
  note: string;
  /** Null: all. */
  collections: string[] | null;
  /** Whose pages may use it. */
  origins: string[];
  /** Requests a second; null: as the gateway says. */
  rate: number | null;
  createdAt: string;
  expiresAt: string | null;
  /** To the hour. */
  usedAt: string | null;
}

export interface NewKey {
  scope: Scope;
  note?: string;
  collections?: readonly string[];
  origins?: readonly string[];
  rate?: number;
  /** A date or time, or days as `90d`. */
  expires?: string;
}
