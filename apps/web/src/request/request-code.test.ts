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
  expect(asPython(SIMILAR)).toBe(`from akin_client import Client

collection = Client("http://127.0.0.1:8983").collection("my-collection")
found = collection.similar(
    id=["a\\"b"],
    by="content",
    filter=["brand:\\"it's\\"","price:[1 TO 2]"],
    limit=48,
)
print(found.documents)`);
  expect(asPython(UPLOAD)).toMatch(/^import os\n\nfrom akin_client.*os.environ\["AKIN_KEY"\]\).*file="picture.jpg",/s);
  const weighted = {
    rows: 1,
    q: 'red',
    'rank.by.hex': '#ff0000',
    'rank.by.id': 'a',
    'rank.weights': '1,2',
    expand: true,
  };
  expect(asPython({ ...SIMILAR, endpoint: 'color', parameters: weighted })).toContain(`similar(
    color="#ff0000",
    id="a",
    by="color",
    limit=1,
    wire={"q": "red", "rank.weights": "1,2", "expand": True},
)`);
  const words = { rows: 48, q: 'red AND "x"', sort: 'price asc' };
  expect(asPython({ ...SIMILAR, endpoint: 'select', parameters: words })).toContain(`search(
    "red AND \\"x\\"",
    limit=48,
    sort="price asc",
)`);
});
