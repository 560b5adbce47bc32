import type { FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { shownValue } from './details/facts.ts';
import { fieldTitle, type SchemaField } from './facets.ts';
import { TEXTS } from './texts.ts';

const T = TEXTS.cardFields;

const MAX_FIELDS = 2;
const STORAGE_KEY = 'akin-card-fields';
const WANTED = [
  { name: /price|preis|prix|precio/i, types: ['long', 'double'] },
  { name: /^(brand|maker|manufacturer|vendor|designer|artist|author|marke)$/i, types: ['string'] },
  { name: /^taken$|date|(^|_)(created|published|released)/i, types: ['date'] },
] as const;

/** Fields that cards can show: those of the documents, with one value. */
export function cardFieldChoices(fields: readonly SchemaField[]): string[] {
  return fields
    .filter(({ name, origin, multiValued }) => origin === 'document' && !multiValued && name !== 'title')
    .map(({ name }) => name);
}

/** The fields that cards show at first: a price, a brand, a date; two of them at most. */
export function guessCardFields(fields: readonly SchemaField[]): string[] {
  const choices = new Set(cardFieldChoices(fields));
  const wanted = WANTED.flatMap(({ name, types }) =>
    fields.filter((field) => name.test(field.name) && types.some((type) => type === field.type)).slice(0, 1),
  );
  return wanted
    .map(({ name }) => name)
    .filter((name) => choices.has(name))
    .slice(0, MAX_FIELDS);
}

export function chosenCardFields(collection: string): readonly string[] | undefined {
  const names: unknown = readChoices()[collection];
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string').slice(0, MAX_FIELDS) : undefined;
}

export function saveCardFields(collection: string, names: readonly string[]): void {
  localStorage.setItem(STORAGE_KEY, JSON.stringify({ ...readChoices(), [collection]: names }));
}

function readChoices(): Record<string, unknown> {
  try {
    return Object(JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}'));
  } catch {
    return {};
  }
}

/** A line with the values of the fields; it is there without values, too, so that all cards have the same height. */
export function cardFieldsLine(document: FoundDocument, names: readonly string[]): TemplateResult | typeof nothing {
  if (names.length === 0) return nothing;
  const values = names.flatMap((name) => {
    const value = document[name];
    return value === undefined || value === null
      ? []
      : [html`<span title=${fieldTitle(name)}>${shownValue(name, value)}</span>`];
  });
  return html`<p class="card-fields">${values}</p>`;
}

export function cardFieldsMenu(
  shown: readonly string[],
  choices: readonly string[],
  actions: Actions,
): TemplateResult | typeof nothing {
  if (choices.length === 0) return nothing;
  const toggle = (name: string) =>
    actions.setCardFields(
      shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name].slice(-MAX_FIELDS),
    );
  return html`<details class="menu">
    <summary class="quiet">${T.title}</summary>
    <div>
      ${choices.map(
        (name) => html`<label class="choice">
          <input type="checkbox" .checked=${shown.includes(name)} @change=${() => toggle(name)} />${fieldTitle(name)}
        </label>`,
      )}
    </div>
  </details>`;
}
