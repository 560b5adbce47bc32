#!/usr/bin/env node
// The command `akin`. It says what is missing instead of failing on an import.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`akin needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}
const { setFlagsFromString } = await import('node:v8');
// V8 puts less of what a function calls into its machine code. Imports and searches take less processor time, because a
// quarter of that of an import was the compiler's: see docs/experiments.md.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=250');
const { existsSync } = await import('node:fs');
const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error('akin is not built yet: run `npm start` once, or `npm run build`.');
  process.exit(1);
}
await import(main.href);
