/*
 * ONNX Runtime 1.30 for Linux keeps an id of the machine and an event for each session, with the names of models and of
 * the system, below the home directory, and sends them to its maker. It also searches the command line with a regular
 * expression that overflows the stack if the command names hundreds of files. This turns both off, unless the user sets
 * the variable.
 *
 * Only what the main thread sets reaches the library: threads have a copy of the environment. So import this wherever
 * the main thread starts threads that load the library.
 */
process.env.ORT_DISABLE_TELEMETRY ??= '1';
