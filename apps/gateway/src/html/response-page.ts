import { stringifyJson } from '@akin/domain';
import { type Html, html } from './html.ts';
import { page } from './page.ts';

type Members = Readonly<Record<string, unknown>>;
type Document = ReadonlyMap<string, unknown>;

/** Longer values are truncated, in characters. */
const LONGEST = 500;
/** Fields that are not in the table: they are shown elsewhere, or mean nothing to people. */
const SHOWN_APART = new Set(['score', 'color_palette_hex', 'color_palette_freq']);

/**
 * A response as a page: documents with picture, score, palette and fields, and a table of everything else.
 *
 * @param path the raw path of the request. Thumbnails are next to it
 */
export function renderResponse(body: Members, path: string): string {
  const { responseHeader, response, error, ...rest } = body as {
    responseHeader?: Members;
    response?: { docs?: readonly Document[] } & Members;
    error?: Members;
  };
  const parts: Html[] = [];
  if (error) parts.push(html`<p class="error">${textOf(error.msg)}</p>`);
  if (response) {
    const { docs = [], ...numbers } = response;
    const counts = Object.entries(numbers).map(
      ([name, value], i) => html`${i > 0 ? ' · ' : ''}${name} <b>${textOf(value)}</b>`,
    );
    parts.push(html`<p>${counts}</p>`);
    const siblings = path.replace(/\/+$/, '').replace(/[^/]*$/, '');
    parts.push(html`<div class="documents">${docs.map((document) => renderDocument(document, siblings))}</div>`);
  }
  const { msg: _, ...more } = error ?? {};
  for (const [title, members] of [
    ['', { ...rest, ...more }],
    ['responseHeader', responseHeader ?? {}],
  ] as const) {
    const present = Object.entries(members).filter(([, value]) => value !== undefined);
    if (present.length > 0) parts.push(html`${title && html`<h2>${title}</h2>`}<table>${rows(present)}</table>`);
  }
  return page(decodePath(path), html`${parts}`);
}

function renderDocument(document: Document, siblings: string): Html {
  const id = textOf(document.get('id'));
  const score = document.get('score');
  const fields = [...document].filter(([name]) => !SHOWN_APART.has(name));
  const picture = document.has('id')
    ? html`<img loading="lazy" alt="" src="${pictureOf(document, id, siblings)}">`
    : '';
  return html`<div class="document">${picture}${
    score === undefined ? '' : html`<div class="score">${textOf(score)}</div>`
  }${renderPalette(document.get('color_palette_hex'), document.get('color_palette_freq'))}<table>${rows(fields)}</table></div>
`;
}

/** The original if a browser can load it, otherwise the thumbnail. */
function pictureOf(document: Document, id: string, siblings: string): string {
  const image = document.get('image');
  if (typeof image === 'string' && /^https?:\/\//i.test(image)) return image;
  return `${siblings}thumbnail?id=${encodeURIComponent(id)}`;
}

/**
 * One rectangle per colour, as wide as its share. The colour is an attribute of the SVG, since the policy allows no
 * inline style.
 */
function renderPalette(colors: unknown, shares: unknown): Html | '' {
  if (!Array.isArray(colors)) return '';
  let x = 0;
  const rectangles = colors.map((color, index) => {
    const share = Number(Array.isArray(shares) ? textOf(shares[index]) : 1 / colors.length) || 0;
    const fill = /^#[0-9a-f]{6}$/i.test(String(color)) ? String(color) : '#000000';
    const left = x;
    x += share * 100;
    return html`<rect x="${left.toFixed(2)}" width="${(share * 100).toFixed(2)}" height="8" fill="${fill}"><title>${fill}</title></rect>`;
  });
  return html`<svg viewBox="0 0 100 8" width="100%" height="16" preserveAspectRatio="none">${rectangles}</svg>`;
}

function rows(entries: readonly (readonly [string, unknown])[]): Html[] {
  return entries.map(([name, value]) => {
    const text = textOf(value);
    const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
    return html`<tr><th>${name}</th><td><code>${shown}</code></td></tr>`;
  });
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
