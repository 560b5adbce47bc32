#!/usr/bin/env node
// The command `akin`. It says what is missing instead of failing on an import.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`akin needs Node 20.19 or newer; this is ${process.version}.`);
  process.exit(1);
}
const { existsSync } = await import('node:fs');
const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error('akin is not built yet: run `npm start` once, or `npm run build`.');
  process.exit(1);
}
await import(main.href);
