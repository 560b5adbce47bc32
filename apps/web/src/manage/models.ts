import type { ContentModel, Reindex } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { bytes, number, timeLeft } from '../format.ts';
import type { PageData } from '../page-data.ts';
import type { ManageState } from './state.ts';
import { MODELS_TEXTS as T } from './texts.ts';

const STORAGE_KEY = 'akin-new-model';

/** Null: the default one of akin. */
export function loadNewModel(): string | null {
  return localStorage.getItem(STORAGE_KEY);
}

export function saveNewModel(name: string | null): void {
  if (name === null) localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, name);
}

/** The model of the next collection that is created here. Undefined if akin lists no models. */
export function modelOfNew({ models, newModel }: ManageState): ContentModel | undefined {
  return models.find(({ name, here }) => here && name === newModel) ?? models.find(({ isDefault }) => isDefault);
}

/** Content models: what they are good for, which are here, how to get one and to use it. */
export function modelsView(pageData: PageData, actions: Actions): TemplateResult | typeof nothing {
  const { managed, scope } = pageData;
  if (managed.models.length === 0) return nothing;
  const mayGet = scope === 'admin' && managed.refusal === undefined;
  return html`<section aria-label=${T.title}>
    <h2>${T.title}</h2>
    ${managed.reindex ? reindexing(managed.reindex, managed.demoCollection, scope === 'admin', actions) : nothing}
    <ul class="operations models">
      ${managed.models.map((model) => modelOf(model, pageData, mayGet, actions))}
    </ul>
    ${managed.refusal === undefined ? nothing : html`<p class="about">${managed.refusal}</p>`}
  </section>`;
}

function modelOf(model: ContentModel, pageData: PageData, mayGet: boolean, actions: Actions): TemplateResult {
  const { name, download } = model;
  const { managed, scope } = pageData;
  const current = managed.collections?.find((one) => one.name === managed.demoCollection)?.model?.name;
  const isForNew = modelOfNew(managed)?.name === name;
  const mayChoose = scope === 'admin' && model.here && managed.models.filter(({ here }) => here).length > 1;
  const isBusy = managed.reindex !== null && isGoingOn(managed.reindex);
  return html`<li>
    <span class="what">${name}${model.words ? html` <span class="count">${T.words}</span>` : nothing}</span>
    <span class="how">
      ${[about(model), current === name ? T.usedBy(managed.demoCollection) : ''].filter(Boolean).join(' · ')}
      ${download?.msg === undefined ? nothing : html`<br /><span class="bad" role="alert">${download.msg}</span>`}
    </span>
    ${download?.state === 'running' ? progress(model, mayGet, actions) : nothing}
    ${
      mayGet && !model.here && download?.state !== 'running'
        ? html`<button aria-label=${`${download ? T.getAgain : T.get} ${name}`} @click=${() => actions.pullModel(name)}>${download ? T.getAgain : T.get}</button>`
        : nothing
    }
    ${
      mayChoose
        ? html`<button aria-label=${`${T.forNew}: ${name}`} aria-pressed=${isForNew} @click=${() => actions.setNewModel(model.isDefault ? null : name)}>${T.forNew}</button>`
        : nothing
    }
    ${
      model.here && scope === 'admin' && current !== undefined && current !== name && !isBusy
        ? html`<button aria-label=${`${T.use(managed.demoCollection)} ${name}`} @click=${() => actions.reindex(name)}>${T.use(managed.demoCollection)}</button>`
        : nothing
    }
  </li>`;
}

function about({ licence, megabytes, about: use, here }: ContentModel): string {
  return [use, licence ?? '', megabytes === null ? '' : bytes(megabytes * 1e6), here ? T.here : '']
    .filter(Boolean)
    .join(' · ');
}

function progress({ name, megabytes, download }: ContentModel, mayStop: boolean, actions: Actions): TemplateResult {
  const done = download?.bytes ?? 0;
  const all = (megabytes ?? 0) * 1e6;
  return html`<progress aria-label=${T.getting(name)} max=${Math.max(all, done, 1)} .value=${done}></progress>
    <span class="about">${bytes(done)}</span>
    ${mayStop ? html`<button class="quiet" aria-label=${T.stopOf(name)} @click=${() => actions.stopPull(name)}>${T.stop}</button>` : nothing}`;
}

export function isGoingOn({ state }: Reindex): boolean {
  return state !== 'done' && state !== 'failed';
}

function reindexing(
  reindex: Reindex,
  collection: string,
  isAdmin: boolean,
  actions: Actions,
): TemplateResult | typeof nothing {
  const { state, model, documents, copied, pending, message } = reindex;
  if (state === 'done') return nothing;
  if (state === 'failed')
    return html`<p class="error" role="alert">${T.reindexFailed(collection)} ${message ?? ''}</p>`;
  const ready = Math.max(0, Math.min(copied, documents) - pending);
  const left = secondsLeft(reindex, Date.now());
  const facts = [`${number(ready)} / ${number(documents)}`, left === undefined ? '' : T.left(timeLeft(left))];
  return html`<div class="reindex" role="status">
    <span>${T.reindexing(collection, model ?? '')}</span>
    <progress aria-label=${T.reindexing(collection, model ?? '')} max=${Math.max(1, documents)} .value=${ready}></progress>
    <span class="about">${state === 'paused' ? T.paused : facts.filter(Boolean).join(' · ')}</span>
    ${
      isAdmin && state !== 'switching'
        ? html`<button @click=${() => (state === 'paused' ? actions.resumeReindex() : actions.pauseReindex())}>${state === 'paused' ? T.resume : T.pause}</button>`
        : nothing
    }
  </div>`;
}

/** From the share that is ready; undefined before anything is, and while it is paused. */
export function secondsLeft({ state, beganAt, documents, copied, pending }: Reindex, now: number): number | undefined {
  const ready = Math.min(copied, documents) - pending;
  const seconds = (now - Date.parse(beganAt)) / 1_000;
  if (state === 'paused' || ready <= 0 || !(seconds > 0)) return undefined;
  return (seconds / ready) * Math.max(0, documents - ready);
}
