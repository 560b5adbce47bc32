/**
 * Makes threads import ES modules instead of requiring them: a thread that is ended while it requires one aborts the
 * whole process, as seen with Node 20.
 */
export const THREAD_ARGUMENTS = ['--no-experimental-require-module'];
