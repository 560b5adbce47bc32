import type { FoundDocument, Plain } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { OUTPUTS } from '../elements.ts';
import { fieldTitle, valueText } from '../facets.ts';
import { isMissing, pathOf } from '../file-path.ts';
import { placeFilter } from '../filters/places.ts';
import { bytes, moment, number, zone } from '../format.ts';
import { TEXTS } from '../texts.ts';

const T = TEXTS.details;

/** Fields that the page shows in another form, or that people cannot use. */
const NOT_LISTED =
  /^(id|score|title|labels|image|source|path|file_\w+|missing|folder|width|height|bytes|modified|taken|taken_utc|camera|keywords|location|parts_\w+|color_palette_\w+|color_names|\w+_(cluster|rerank|nclusters|lopq|descriptor))$/;

/** The cells of a picture in the order of `copyspace`, which is the reading order. */
const PARTS = TEXTS.parts;

export function facts(document: FoundDocument, actions: Actions, mayChange: boolean): TemplateResult {
  const { taken, taken_utc: utc, camera, location, width, height, bytes: size, modified, image } = document;
  const path = pathOf(document);
  const measures = [
    typeof width === 'number' && typeof height === 'number' ? `${number(width)} × ${number(height)}` : '',
    typeof size === 'number' ? bytes(size) : '',
  ].filter(Boolean);
  return html`<dl>
    ${isMissing(document) ? fact(T.missing, TEXTS.missing(path ?? document.id)) : nothing}
    ${typeof taken === 'string' ? fact(T.taken, moment(taken) + zone(taken, utc)) : nothing}
    ${typeof camera === 'string' ? fact(T.camera, camera) : nothing}
    ${measures.length > 0 ? fact(T.size, measures.join(', ')) : nothing}
    ${typeof location === 'string' ? fact(T.place, place(location, actions)) : nothing}
    ${
      path === undefined
        ? fact(T.id, document.id)
        : fact(
            T.file,
            html`<span class="path">${path}</span>
              <button class="quiet small-button" @click=${() => actions.copy(path)}>${T.copyPath}</button>`,
          )
    }
    ${typeof modified === 'string' ? fact(T.modified, moment(modified)) : nothing}
    ${Object.entries(document)
      .filter(([name]) => !NOT_LISTED.test(name))
      .map(([name, value]) =>
        fact(
          fieldTitle(name),
          mayChange && !Array.isArray(value) && isOwnField(name)
            ? html`${shownValue(name, value)}
                <button class="quiet small-button" aria-label=${T.edit(fieldTitle(name))} @click=${() => actions.editField(document, name)}>${T.editField}</button>`
            : shownValue(name, value),
        ),
      )}
    ${
      typeof image === 'string' && /^https?:/.test(image)
        ? fact(T.image, html`<a href=${image} rel="noreferrer" target="_blank">${image}</a>`)
        : nothing
    }
  </dl>`;
}

/** Whether a field is one that people set, not one of the analysis or the file. */
export function isOwnField(name: string): boolean {
  return !NOT_LISTED.test(name) && !OUTPUTS.has(name) && !/^(_version_|collapsed)$/.test(name);
}

function fact(name: string, value: unknown): TemplateResult {
  return html`<dt>${name}</dt><dd>${value}</dd>`;
}

const NEARBY_KILOMETERS = 25;

/**
 * A link to a map, and a search for documents nearby. The map opens only on a click, because the page itself sends
 * requests only to akin.
 */
function place(location: string, actions: Actions): TemplateResult {
  const near = () =>
    actions.addFilter(placeFilter({ point: location.replace(/\s/g, ''), kilometers: NEARBY_KILOMETERS }));
  const [lat = '', lon = ''] = location.split(',');
  const address = `https://www.openstreetmap.org/?mlat=${encodeURIComponent(lat)}&mlon=${encodeURIComponent(lon)}#map=14/${encodeURIComponent(lat)}/${encodeURIComponent(lon)}`;
  return html`<a href=${address} rel="noreferrer" target="_blank">${location}</a>
    <button class="quiet small-button" @click=${near}>${T.near}</button>`;
}

export function shownValue(name: string, value: Plain): string {
  if (Array.isArray(value)) {
    return value.map((one) => (name === 'copyspace' ? (PARTS[Number(one)] ?? one) : one)).join(', ');
  }
  if (typeof value === 'boolean') return valueText(String(value));
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return moment(value);
  return typeof value === 'number' ? number(value) : String(value);
}
