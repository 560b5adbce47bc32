// A nightly report: groups of near-duplicates of a collection, the largest first, as Markdown.
// npm install akin-client; node duplicate-report.mjs [collection] > report.md
// In a clone of akin, before akin is released: npm run pack; copy this file into an empty folder, and there
// npm install <clone>/dist/akin-client-*.tgz
import { createClient } from 'akin-client';

const { AKIN_URL = 'http://127.0.0.1:8983', AKIN_KEY: key } = process.env;
const collection = createClient({ baseUrl: AKIN_URL, ...(key ? { key } : {}) }).collection(
  process.argv[2] ?? 'my-collection',
);

const groups = [];
for await (const group of collection.allGroups()) groups.push(group);
groups.sort((a, b) => b.size - a.size);

console.log(`# ${groups.length} groups of near-duplicates in ${collection.name}\n`);
for (const { representative, size, members } of groups) {
  console.log(`## ${representative}: ${size} pictures\n`);
  for (const { id, score } of members) {
    const how = id === representative ? 'the representative' : `score ${score?.toFixed(2)}`;
    console.log(`- ${id} (${how})`);
  }
  console.log('');
}
