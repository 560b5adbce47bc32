/**
 * `it` for cases of which one engine is enough: PostgreSQL runs them, and PGlite leaves them out. Both are PostgreSQL
 * and run the same statements, and PGlite takes several times the CPU. A plain `it` runs on both, on
 * PGlite in `npm run test:all`: a few cases of each file, and all in which the engines differ, such as locks,
 * transactions, types on the wire, memory, large values, restarts.
 *
 * @param it the function of jest, which this package does not load: it is used outside of jest too
 */
export function onPostgres<It>(kind: 'pglite' | 'postgres', it: It): It {
  return kind === 'postgres' ? it : (NOT_RUN as It);
}

const NOT_RUN: unknown = Object.assign(() => undefined, { each: () => () => undefined });
