/** What a key allows. Each scope includes the ones before it. */
export type Scope = 'search' | 'index' | 'admin';

/** A key without its secret. */
export interface Key {
  id: string;
  scope: Scope;
  note: string;
  /** Names of the collections; null means all. */
  collections: string[] | null;
  /** Origins whose web pages may use the key. */
  origins: string[];
  /** Requests per second; null means the default of the gateway. */
  rate: number | null;
  /** The only documents that it sees, as a query; null means all. */
  filter: string | null;
  /** Fields that each document it writes gets, as `field=value`. */
  set: string[];
  createdAt: string;
  expiresAt: string | null;
  /** Time of the last use, rounded to the hour. */
  usedAt: string | null;
}

export interface NewKey {
  scope: Scope;
  note?: string;
  collections?: readonly string[];
  origins?: readonly string[];
  rate?: number;
  /** A date or time, or a number of days such as `90d`. */
  expires?: string;
  /** A query: the key sees only documents that match it. */
  filter?: string;
  /**
   * Fields that each document it writes gets, as `field=value`, so that it matches the filter. Without them a key with
   * a filter may not write.
   */
  set?: readonly string[];
}
