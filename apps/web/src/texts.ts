import { count, number, rate, timeLeft } from './format.ts';

/** Every text of the page. Another language is another file of this shape. */
export const TEXTS = {
  runs: {
    region: 'Indexing',
    running: (source: string) => `Indexing ${source}`,
    paused: (source: string) => `Paused: ${source}`,
    done: (pictures: number) => `${count(pictures, 'picture')} indexed`,
    stopped: (source: string) => `Stopped: ${source}. Run the same command to go on.`,
    broken: (source: string) => `Indexing ${source} ended with an error. The command says why.`,
    of: (done: number, total: number) => `${number(done)} of ${number(total)}`,
    rate: (perSecond: number) => rate(perSecond),
    left: (seconds: number) => `${timeLeft(seconds)} left`,
    failed: (failed: number) => `${number(failed)} failed`,
    show: 'Show',
    hide: 'Hide',
    retry: 'Try again',
    csv: 'Save as CSV',
    dismiss: 'Dismiss',
    more: (more: number) => `and ${number(more)} more that are not listed`,
    progress: 'Progress of indexing',
    failuresOf: 'Files that were not indexed',
  },
  reasons: {
    'image-unreachable': 'The picture could not be fetched',
    'image-undecodable': 'The picture could not be read',
    'unsupported-image': 'Not a picture that akin reads',
    'too-large': 'The picture is too large',
    'bad-request': 'The document could not be stored',
    conflict: 'Another file has the same name',
    unreadable: 'The file could not be read',
    unavailable: 'Something that akin needs did not answer',
    internal: 'Something went wrong in akin',
  } as Readonly<Record<string, string>>,
} as const;
