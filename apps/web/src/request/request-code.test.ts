import { expect, it } from '@jest/globals';
import { asPython, asTypeScript, type SearchRequest } from './request-code.ts';

const SIMILAR: SearchRequest = {
  server: 'http://127.0.0.1:8983',
  collection: 'my-collection',
  endpoint: 'image',
  parameters: { rows: 48, fq: ['brand:"it\'s"', 'price:[1 TO 2]'], 'rank.by.id': ['a"b'] },
  sendsFile: false,
  isKeyed: false,
};
const UPLOAD: SearchRequest = { ...SIMILAR, parameters: { rows: 48 }, sendsFile: true, isKeyed: true };

it('writes a search in TypeScript', () => {
  expect(asTypeScript(SIMILAR)).toBe(`import { createClient } from 'akin-client';

const akin = createClient({ baseUrl: "http://127.0.0.1:8983" });
const { response } = await akin.collection("my-collection").image({
  "rows": 48,
  "fq": ["brand:\\"it's\\"","price:[1 TO 2]"],
  "rank.by.id": ["a\\"b"],
});
console.log(response.docs);`);
  expect(asTypeScript(UPLOAD)).toContain("'rank.by.data': (await readFile('picture.jpg')).toString('base64'),");
  expect(asTypeScript(UPLOAD)).toContain('key: process.env.AKIN_KEY');
});

it('writes a search in Python', () => {
  expect(asPython(SIMILAR)).toBe(`import json, urllib.parse, urllib.request

parameters = [
    ("rows", "48"),
    ("fq", "brand:\\"it's\\""),
    ("fq", "price:[1 TO 2]"),
    ("rank.by.id", "a\\"b"),
]
body = urllib.parse.urlencode(parameters).encode()
request = urllib.request.Request("http://127.0.0.1:8983/api/cores/my-collection/image", body)
print(json.load(urllib.request.urlopen(request))["response"]["docs"])`);
  expect(asPython(UPLOAD)).toMatch(/^import base64, json, os, urllib.parse, urllib.request\n/);
  expect(asPython(UPLOAD)).toContain('("rank.by.data", base64.b64encode(open("picture.jpg", "rb").read()).decode()),');
});
