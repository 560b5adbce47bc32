import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { decodeImage } from '@akin/imaging';
import { analyzeImage } from '@akin/modules/analyze';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { planDemo } from './catalogue.ts';
import { CITIES } from './cities.ts';
import { type DemoDocument, drawDemo } from './draw-demo.ts';

let folder: string;
let documents: DemoDocument[];

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'akin-demo-'));
  documents = await drawDemo(path.join(folder, 'new', 'demo'));
});

afterAll(() => fs.rm(folder, { recursive: true, force: true }));

describe('the demo', () => {
  it('has some hundred products, scenes and edited copies, each with an id of its own', () => {
    const kinds = (kind: string) => documents.filter((document) => document.kind === kind).length;
    expect(kinds('product')).toBeGreaterThan(150);
    expect(kinds('scene')).toBeGreaterThan(40);
    expect(kinds('edited copy')).toBeGreaterThan(20);
    expect(new Set(documents.map(({ id }) => id)).size).toBe(documents.length);
  });

  it('draws a picture for every document', async () => {
    for (const { file } of documents) {
      const { type, width, height } = await decodeImage(await fs.readFile(file), { minSide: 64 });
      expect(type).toBe('webp');
      expect(Math.max(width, height)).toBeGreaterThanOrEqual(100);
      expect(Math.max(width, height)).toBeLessThanOrEqual(540);
    }
  });

  it('always derives the same types for its fields', () => {
    for (const document of documents) {
      expect(document.labels.length).toBeGreaterThan(1);
      expect(document.released).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(Number.isNaN(Date.parse(document.released))).toBe(false);
      expect(document.location).toBe(CITIES[document.city]);
      if (document.price !== undefined) expect(String(document.price)).toMatch(/^\d+\.\d+$/);
      if (document.quantity !== undefined) {
        expect(Number.isInteger(document.quantity)).toBe(true);
        expect(document.in_stock).toBe(document.quantity > 0);
      }
    }
  });

  it('says of each copy what it is a copy of', () => {
    const ids = new Set(documents.map(({ id }) => id));
    for (const document of documents.filter(({ kind }) => kind === 'edited copy')) {
      expect(ids).toContain(document.copy_of);
      expect(document.edit).toBeTruthy();
    }
  });

  it('names the visible colour of a product on a plain background', async () => {
    const shirts = documents.filter(({ title, kind }) => kind === 'product' && title.endsWith('polo shirt, mint'));
    const caps = documents.filter(({ title, kind }) => kind === 'product' && / cap, (red|black)$/.test(title));
    expect(shirts.length + caps.length).toBeGreaterThan(1);
    for (const { file, labels } of [...shirts, ...caps]) {
      const { outputs } = await analyzeImage(await fs.readFile(file), { modules: ['color'] });
      expect(labels).toContain(JSON.parse(outputs).color_names[0]);
    }
  });

  it('leaves free space for text in banners and under open skies', async () => {
    const cells = async ({ file }: DemoDocument): Promise<number[]> => {
      const { outputs } = await analyzeImage(await fs.readFile(file), { modules: ['copyspace'] });
      return JSON.parse(outputs).copyspace;
    };
    const roomy = documents.filter(
      ({ kind, labels }) => labels.includes('banner') || (kind === 'scene' && labels.includes('desert')),
    );
    expect(roomy.length).toBeGreaterThan(15);
    for (const document of roomy) expect((await cells(document)).length).toBeGreaterThan(0);
  });

  it('is the same at every drawing', () => {
    const first = planDemo();
    const second = planDemo();
    expect(second.copies).toEqual(first.copies);
    for (const [i, { id, fields, draw }] of first.originals.entries()) {
      const again = second.originals[i];
      expect([again?.id, again?.fields]).toEqual([id, fields]);
      expect(again?.draw().toString()).toBe(draw().toString());
    }
  });

  it('needs no font', () => {
    for (const { draw } of planDemo().originals) expect(draw().toString()).not.toMatch(/<text|font/);
  });

  it('is drawn by code that never loads the guarded image decoder', async () => {
    const sources = new Set<string>();
    const visit = async (file: string): Promise<void> => {
      if (sources.has(file)) return;
      sources.add(file);
      const text = await fs.readFile(file, 'utf8');
      for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type )(?:[^'";]* from )?'([^']+)'/gms)) {
        if (from.startsWith('.')) await visit(path.resolve(path.dirname(file), from));
        else expect(from).not.toMatch(/^@akin\//);
      }
    };
    await visit(path.join(import.meta.dirname, 'draw.ts'));
    expect(sources.size).toBeGreaterThan(10);
  });

  it('says why when it cannot be drawn', async () => {
    const file = path.join(folder, 'a file');
    await fs.writeFile(file, '');
    await expect(drawDemo(path.join(file, 'demo'))).rejects.toThrow();
    const full = path.join(folder, 'taken');
    await fs.mkdir(path.join(full, 'documents.json'), { recursive: true });
    await expect(drawDemo(full)).rejects.toThrow('The demo pictures could not be drawn');
  });

  it('stops when it is aborted', async () => {
    const stop = new AbortController();
    const drawing = drawDemo(path.join(folder, 'stopped'), stop.signal);
    stop.abort();
    await expect(drawing).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  });
});
