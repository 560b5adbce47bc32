import type { CollectionSummary, Key, NewKey, Scope } from '@akin/client';
import { isTrash, trashName } from '@akin/domain';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { picker } from '../add/empty.ts';
import { day, moment, number } from '../format.ts';
import { keyOfTab } from '../key.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import { modelOfNew, modelsView } from './models.ts';
import { MODELS_TEXTS, MANAGE_TEXTS as T } from './texts.ts';

const SCOPES: readonly Scope[] = ['search', 'index', 'admin'];

export function manageView(pageData: PageData, actions: Actions): TemplateResult {
  const { collections } = pageData.managed;
  if (collections === null) {
    return html`<div class="changes">
      ${pageData.error === null ? html`<p class="note">${TEXTS.results.loading}</p>` : nothing} ${ownKey(actions)}
    </div>`;
  }
  return html`<div class="changes">
    <section aria-label=${T.collections}>
      <h2>${T.collections}</h2>
      <ul class="operations">${collections.filter(({ name }) => !isTrash(name)).map((one) => collectionOf(one, pageData, actions))}</ul>
      ${
        pageData.scope === 'search'
          ? nothing
          : html`<p class="line">
              <span class="about">${T.addTo(pageData.managed.demoCollection)}</span>
              ${picker(TEXTS.add.folder, true, actions)} ${picker(TEXTS.add.files, false, actions)}
            </p>`
      }
      ${pageData.scope === 'admin' ? creation(pageData, actions) : nothing}
    </section>
    ${modelsView(pageData, actions)}
    <section aria-label=${T.keys}>
      <h2>${T.keys}</h2>
      ${ownKey(actions)} ${pageData.managed.keys ? keys(pageData.managed.keys, pageData.managed.newKey, collections, actions) : nothing}
    </section>
  </div>`;
}

function collectionOf(one: CollectionSummary, { scope, managed }: PageData, actions: Actions): TemplateResult {
  const trash = managed.collections?.find(({ name, documents }) => name === trashName(one.name) && documents > 0);
  const isDemo = managed.demo > 0 && one.name === managed.demoCollection;
  return html`<li>
    <span class="what"><a href=${`?collection=${encodeURIComponent(one.name)}`}>${one.name}</a></span>
    <span class="how">${TEXTS.page.status(one)}</span>
    ${trash ? html`<a href=${`?collection=${encodeURIComponent(trash.name)}`}>${TEXTS.trash.open(trash.documents)}</a>` : nothing}
    ${isDemo && scope !== 'search' ? html`<button class="quiet" @click=${actions.clearDemo}>${T.clearDemo}</button>` : nothing}
    ${scope === 'admin' ? html`<button class="quiet" aria-label=${T.dropOf(one.name)} @click=${() => actions.dropCollection(one.name)}>${T.drop}</button>` : nothing}
  </li>`;
}

function creation({ managed }: PageData, actions: Actions): TemplateResult {
  const model = modelOfNew(managed);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const name = String(new FormData(form).get('name')).trim();
    actions.createCollection(name, model?.isDefault ? undefined : model?.name);
    form.reset();
  };
  return html`<form class="line" @submit=${submit}>
    <input name="name" required maxlength="100" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" title=${T.nameRule} aria-label=${TEXTS.page.collectionName} placeholder=${TEXTS.page.collectionName} />
    <button>${T.create}</button>
    ${model === undefined ? nothing : html`<span class="about">${MODELS_TEXTS.newModel(model.name)}</span>`}
  </form>`;
}

function ownKey(actions: Actions): TemplateResult {
  return keyOfTab() === undefined
    ? html`<p class="about">${T.noKey}</p>`
    : html`<p class="line"><span class="about">${T.ownKey}</span> <button @click=${actions.forgetKey}>${T.forget}</button></p>`;
}

function keys(
  all: readonly Key[],
  made: string | null,
  collections: readonly CollectionSummary[],
  actions: Actions,
): TemplateResult {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const text = (name: string) => String(data.get(name) ?? '').trim();
    const [note, collection, expires] = [text('note'), text('collection'), text('expires')];
    const key: NewKey = {
      scope: text('scope') as Scope,
      ...(note && { note }),
      ...(collection && { collections: [collection] }),
      ...(expires && { expires }),
    };
    actions.createKey(key);
    (event.target as HTMLFormElement).reset();
  };
  return html`
    ${
      made === null
        ? nothing
        : html`<p class="made" role="status">${T.made} <code>${made}</code> <button @click=${() => actions.copy(made)}>${TEXTS.page.copy}</button></p>`
    }
    ${
      all.length === 0
        ? nothing
        : html`<ul class="operations">
            ${all.map(
              (key) => html`<li>
                <span class="what">${key.note || key.id}</span>
                <span class="how">${aboutKey(key)}</span>
                <button class="quiet" aria-label=${T.revokeOf(key.note || key.id)} @click=${() => actions.revokeKey(key.id, key.note || key.id)}>${T.revoke}</button>
              </li>`,
            )}
          </ul>`
    }
    <form class="line" @submit=${submit}>
      <select name="scope" aria-label=${T.scope}>${SCOPES.map((scope) => html`<option value=${scope}>${T.scopes[scope]}</option>`)}</select>
      <select name="collection" aria-label=${T.keyFor}>
        <option value="">${T.allCollections}</option>
        ${collections.map(({ name }) => html`<option>${name}</option>`)}
      </select>
      <input name="note" maxlength="100" aria-label=${T.note} placeholder=${T.note} />
      <select name="expires" aria-label=${T.expires}>
        ${Object.entries(T.lives).map(([value, text]) => html`<option value=${value === 'never' ? '' : value}>${text}</option>`)}
      </select>
      <button>${T.createKey}</button>
    </form>`;
}

function aboutKey({ scope, collections, rate, createdAt, expiresAt, usedAt }: Key): string {
  return [
    T.scopes[scope],
    collections?.join(', ') ?? T.allCollections,
    rate === null ? '' : T.rate(number(rate)),
    T.created(day(createdAt)),
    expiresAt === null ? '' : T.until(day(expiresAt)),
    usedAt === null ? T.unused : T.used(moment(usedAt)),
  ]
    .filter(Boolean)
    .join(' · ');
}
