import { number } from '../format.ts';

export const CHANGES_TEXTS = {
  visible: 'Visible',
  open: 'In progress',
  failed: 'Failed',
  failedRegion: 'Failed changes',
  openRegion: 'Changes in progress',
  more: (more: number) => `and ${number(more)} more`,
  none: 'All changes are visible.',
  states: {
    analyzing: 'being analyzed',
    queued: 'waiting for analysis',
    ready: 'visible soon',
  } as Readonly<Record<string, string>>,
  attempt: (attempt: number) => `attempt ${number(attempt)}`,
  retryAll: 'Try all again',
  retry: 'Try again',
  retrying: 'Trying…',
  itFailed: 'It failed.',
  deleteByQuery: 'Delete by query',
  delete: (id: string) => `Delete ${id}`,
} as const;

export const FIGURES_TEXTS = {
  region: 'This server',
  searches: 'Searches',
  searchTime: 'Search time',
  analyses: 'Pictures analyzed',
  queue: 'Waiting changes',
  lag: 'Longest wait',
  memory: 'Memory',
  vectors: 'Memory of vectors',
  disk: 'Free on disk',
  model: 'Model',
  words: 'finds pictures by words',
} as const;
