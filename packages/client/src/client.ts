import { Collection } from './collection.ts';
import { type ClientConfig, request } from './request.ts';

export interface Client {
  /** A handle on one collection; nothing is sent yet. */
  collection(name: string): Collection;
  /** Names and states of all collections. */
  collections(): Promise<{ collections: CollectionSummary[] }>;
  /** Whether akin answers and can work. */
  isReady(): Promise<boolean>;
}

export interface CollectionSummary {
  name: string;
  documents: number;
  commit: number;
  committedAt: string | null;
  pending: number;
  failed: number;
  /** How many failed for which reason. */
  failures: { [reason: string]: number };
}

/** The door to one akin. Opens nothing until a method is called. */
export function createClient(config: ClientConfig): Client {
  return {
    collection: (name) => new Collection(config, name),
    collections: () => request(config, '/api/cores'),
    async isReady() {
      try {
        await request(config, '/health/ready');
        return true;
      } catch {
        return false;
      }
    },
  };
}
