import pg from 'pg';

const BOOL_ARRAY = 1000;
const INT8 = 20;
const INT8_ARRAY = 1016;
const TEXT_ARRAY = 1009;
const JSON_TYPE = 114;
const JSONB = 3802;

type Parse = (text: string) => unknown;

const textArray = pg.types.getTypeParser(TEXT_ARRAY as never, 'text') as (text: string) => (string | null)[];

/**
 * These differ from pg's where a digit or a key would be lost. Not set globally, because another user of pg in the
 * process keeps its own.
 */
const PARSERS: Readonly<Record<number, Parse>> = {
  [INT8]: BigInt,
  [INT8_ARRAY]: (text) => textArray(text).map((item) => (item === null ? null : BigInt(item))),
  [BOOL_ARRAY]: (text) => textArray(text).map((item) => (item === null ? null : item === 't')),
  [JSON_TYPE]: String,
  [JSONB]: String,
};

/** How to convert the columns of a result; passed to every client of pg. */
export const ROW_TYPES = {
  getTypeParser(oid: number, format: 'text' | 'binary' = 'text'): Parse {
    const own = format === 'text' ? PARSERS[oid] : undefined;
    return own ?? (pg.types.getTypeParser(oid, format) as Parse);
  },
};
