import { stringifyJson } from '@akin/domain';
import { escapeHtml, page } from './page.ts';

type Members = Readonly<Record<string, unknown>>;
type Document = ReadonlyMap<string, unknown>;

/** The longest value that is shown whole. */
const LONGEST = 500;
/** Fields with a place of their own, or of no use to a person. */
const SHOWN_APART = new Set(['score', 'color_palette_hex', 'color_palette_freq']);

/**
 * An answer as a page for people: documents with picture, score, palette and fields, all else as a table.
 *
 * @param path the raw path of the request; thumbnails are its siblings
 */
export function renderAnswer(answer: Members, path: string): string {
  const { responseHeader, response, error, ...rest } = answer as {
    responseHeader?: Members;
    response?: { docs?: readonly Document[] } & Members;
    error?: Members;
  };
  const parts: string[] = [];
  if (error) parts.push(`<p class="error">${escapeHtml(textOf(error.msg))}</p>`);
  if (response) {
    const { docs = [], ...numbers } = response;
    parts.push(
      `<p>${Object.entries(numbers)
        .map(([name, value]) => `${escapeHtml(name)} <b>${escapeHtml(textOf(value))}</b>`)
        .join(' · ')}</p>`,
    );
    const siblings = path.replace(/\/+$/, '').replace(/[^/]*$/, '');
    parts.push(`<div class="documents">${docs.map((document) => renderDocument(document, siblings)).join('')}</div>`);
  }
  const { msg: _, ...more } = error ?? {};
  for (const [title, members] of [
    ['', { ...rest, ...more }],
    ['responseHeader', responseHeader ?? {}],
  ] as const) {
    if (Object.keys(members).length === 0) continue;
    parts.push(`${title && `<h2>${title}</h2>`}<table>${rows(Object.entries(members))}</table>`);
  }
  return page(decodePath(path), parts.join('\n'));
}

function renderDocument(document: Document, siblings: string): string {
  const id = textOf(document.get('id'));
  const score = document.get('score');
  const fields = [...document].filter(([name]) => !SHOWN_APART.has(name));
  return [
    '<div class="document">',
    document.has('id') ? `<img loading="lazy" alt="" src="${escapeHtml(pictureOf(document, id, siblings))}">` : '',
    score === undefined ? '' : `<div class="score">${escapeHtml(textOf(score))}</div>`,
    renderPalette(document.get('color_palette_hex'), document.get('color_palette_freq')),
    `<table>${rows(fields)}</table>`,
    '</div>',
  ].join('');
}

/** The original where a browser can load it, else the thumbnail. */
function pictureOf(document: Document, id: string, siblings: string): string {
  const image = document.get('image');
  if (typeof image === 'string' && /^https?:\/\//i.test(image)) return image;
  return `${siblings}thumbnail?id=${encodeURIComponent(id)}`;
}

/** One rectangle a colour, as wide as its share. The colour is an attribute of the drawing, which needs no style. */
function renderPalette(colors: unknown, shares: unknown): string {
  if (!Array.isArray(colors)) return '';
  let x = 0;
  const rectangles = colors.map((color, index) => {
    const share = Number(Array.isArray(shares) ? textOf(shares[index]) : 1 / colors.length) || 0;
    const fill = /^#[0-9a-f]{6}$/i.test(String(color)) ? String(color) : '#000000';
    const left = x;
    x += share * 100;
    return `<rect x="${left.toFixed(2)}" width="${(share * 100).toFixed(2)}" height="8" fill="${fill}"><title>${fill}</title></rect>`;
  });
  return `<svg viewBox="0 0 100 8" width="100%" height="16" preserveAspectRatio="none">${rectangles.join('')}</svg>`;
}

function rows(entries: Iterable<readonly [string, unknown]>): string {
  return [...entries]
    .map(([name, value]) => {
      const text = textOf(value);
      const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
      return `<tr><th>${escapeHtml(name)}</th><td><code>${escapeHtml(shown)}</code></td></tr>`;
    })
    .join('');
}

function textOf(value: unknown): string {
  if (Array.isArray(value) && value.every((element) => typeof element !== 'object'))
    return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : stringifyJson(value).replace(/^"(.*)"$/, '$1');
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
