/** The V8 of Node 20 optimizes JavaScript early and at a high cost. Later ones have a cheaper compiler for it. */
const OPTIMIZE_LATER = Number(process.versions.v8.split('.')[0]) < 12 ? ['--interrupt-budget=1000000'] : [];

/**
 * Arguments for Node when a test starts a program that runs only for seconds. V8 then compiles WebAssembly once,
 * quickly, without optimization: a new process starts the embedded database in half of the CPU time. Tests that open
 * the database in their own process run the optimized code.
 */
export const SHORT_LIVED: readonly string[] = ['--liftoff-only', ...OPTIMIZE_LATER];
