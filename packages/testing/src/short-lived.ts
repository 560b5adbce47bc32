/**
 * Arguments for Node when a test starts a program that runs only for seconds. V8 then compiles WebAssembly once,
 * quickly, without optimization: a new process starts the embedded database in half of the CPU time. Tests that open
 * the database in their own process run the optimized code.
 */
export const SHORT_LIVED: readonly string[] = ['--liftoff-only'];
