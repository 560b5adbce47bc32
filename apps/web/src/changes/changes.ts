import type { Collection, CollectionSummary, Operation, Scope } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from '../actions.ts';
import { number } from '../format.ts';
import { TEXTS } from '../texts.ts';
import type { LiveMetrics } from './figures.ts';
import { figuresView } from './figures-view.ts';
import type { Changes } from './state.ts';
import { CHANGES_TEXTS as T } from './texts.ts';

const FAILED_PAGE = 50;
const OPEN_PAGE = 20;
const OPEN_STATES = ['analyzing', 'queued', 'ready'] as const;

/** Loads the failed changes, at least as many as are shown, and the first pending ones. */
export async function loadChanges(
  collection: Collection,
  shown: number,
): Promise<Pick<Changes, 'failed' | 'nextCursor' | 'open'>> {
  const limit = Math.min(1_000, Math.max(FAILED_PAGE, shown));
  const [failed, ...open] = await Promise.all([
    collection.operations({ state: 'failed', limit }),
    ...OPEN_STATES.map((state) => collection.operations({ state, limit: OPEN_PAGE })),
  ]);
  return {
    failed: failed.operations,
    nextCursor: failed.nextCursor,
    open: open.flatMap(({ operations }) => operations).slice(0, OPEN_PAGE),
  };
}

export async function loadMoreFailed(
  collection: Collection,
  changes: Changes,
): Promise<Pick<Changes, 'failed' | 'nextCursor'>> {
  if (changes.nextCursor === undefined) return changes;
  const page = await collection.operations({ state: 'failed', limit: FAILED_PAGE, cursor: changes.nextCursor });
  return { failed: [...changes.failed, ...page.operations], nextCursor: page.nextCursor };
}

interface ChangesViewProps {
  readonly changes: Changes;
  readonly status: CollectionSummary | null;
  readonly figures: LiveMetrics | null;
  readonly scope: Scope | null;
  readonly error: string | null;
}

export function changesView(
  { changes, status, figures, scope, error }: ChangesViewProps,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (changes.loadedAt === null || status === null) {
    return error === null ? html`<p class="note">${TEXTS.page.looking}</p>` : nothing;
  }
  const reasons = Object.entries(status.failures).sort(([, a], [, b]) => b - a);
  const failed = status.failed;
  return html`<div class="changes">
    <dl class="counts">
      ${count(T.visible, status.documents)} ${count(T.open, status.pending)} ${count(T.failed, failed)}
    </dl>
    ${
      failed > 0
        ? html`<section aria-label=${T.failedRegion}>
            <h2>${T.failed}</h2>
            <ul class="reasons">
              ${reasons.map(([reason, failed]) => reasonOf(reason, failed, changes, actions))}
            </ul>
            <ul class="operations">
              ${repeat(
                changes.failed,
                ({ operation }) => operation,
                (one) => failedOperation(one, changes, actions),
              )}
            </ul>
            ${
              changes.nextCursor === undefined
                ? nothing
                : html`<button class="more" @click=${actions.loadMore}>${TEXTS.results.more}</button>`
            }
          </section>`
        : nothing
    }
    ${
      changes.open.length > 0
        ? html`<section aria-label=${T.openRegion}>
            <h2>${T.open}</h2>
            <ul class="operations">
              ${repeat(
                changes.open,
                ({ operation }) => operation,
                (one) => html`<li>
                  <span class="what">${nameOf(one)}</span>
                  <span class="how">${T.states[one.state] ?? one.state}${one.attempt > 1 ? `, ${T.attempt(one.attempt)}` : ''}</span>
                </li>`,
              )}
            </ul>
            ${
              status.pending > changes.open.length
                ? html`<p class="about">${T.more(status.pending - changes.open.length)}</p>`
                : nothing
            }
          </section>`
        : nothing
    }
    ${failed === 0 && status.pending === 0 ? html`<p class="note">${T.none}</p>` : nothing}
    ${scope === 'search' ? nothing : figuresView(figures, status)}
  </div>`;
}

function count(name: string, value: number): TemplateResult {
  return html`<div><dt>${name}</dt><dd>${number(value)}</dd></div>`;
}

function reasonOf(reason: string, failed: number, changes: Changes, actions: Actions): TemplateResult {
  const busy = changes.retrying.has(reason);
  return html`<li>
    <span class="what">${TEXTS.reasons[reason] ?? reason}: ${number(failed)}</span>
    <button ?disabled=${busy} @click=${() => actions.retry({ reason })}>${busy ? T.retrying : T.retryAll}</button>
  </li>`;
}

function failedOperation(one: Operation, changes: Changes, actions: Actions): TemplateResult {
  const busy = changes.retrying.has(one.operation);
  return html`<li>
    <span class="what">${nameOf(one)}</span>
    <span class="how">${one.reason?.msg ?? T.itFailed}</span>
    <button class="quiet" ?disabled=${busy} aria-label=${`${T.retry}: ${nameOf(one)}`}
      @click=${() => actions.retry({ operation: one.operation })}>${busy ? T.retrying : T.retry}</button>
  </li>`;
}

function nameOf({ id, kind }: Operation): string {
  if (id === undefined) return T.deleteByQuery;
  return kind === 'delete' ? T.delete(id) : id;
}
