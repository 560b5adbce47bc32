/**
 * Arguments for Node where a test starts a program that lives for seconds. V8 then compiles WebAssembly once, quickly,
 * and does not spend more on code that would be faster later: starting the embedded database in a new process takes
 * half of the CPU time. Tests that open it in their own process run the optimized code.
 */
export const SHORT_LIVED: readonly string[] = ['--liftoff-only'];
