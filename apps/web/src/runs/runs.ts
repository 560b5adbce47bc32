import type { Run, RunFailure } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from '../actions.ts';
import { saveCsv } from '../csv.ts';
import { TEXTS } from '../texts.ts';

const T = TEXTS.runs;

/** The runs, as far as the page has loaded them. */
export interface Runs {
  readonly list: readonly Run[];
  /** Files per second of the active run; undefined if it is not known yet. */
  readonly rate: number | undefined;
  /** Ids of runs that were active on this page, whose end is announced. */
  readonly seen: ReadonlySet<string>;
  /** Ids of runs whose failed files are being sent again. */
  readonly retrying: ReadonlySet<string>;
  /** Ids of runs of commands that have ended: only the same command can try their files again. */
  readonly ended: ReadonlySet<string>;
  readonly opened: string | null;
}

export const NO_RUNS: Runs = {
  list: [],
  rate: undefined,
  seen: new Set(),
  retrying: new Set(),
  ended: new Set(),
  opened: null,
};

/** What a run named and did not find. akin takes it from the report when it is back. */
const absentOf = ({ failures: all }: Run) => all.filter(({ code }) => code === 'absent').map(({ path }) => path);
const failedOf = (run: Run) => run.failed - absentOf(run).length;
const isGoingOn = ({ state }: Run) => state === 'running' || state === 'paused';

/** Progress bars below the header: active runs, runs with failures, and runs that have just ended. */
export function runBars(runs: Runs, actions: Actions): TemplateResult | typeof nothing {
  const shown = runs.list.filter((run) => isGoingOn(run) || run.failed > 0 || runs.seen.has(run.id));
  if (shown.length === 0) return nothing;
  return html`<section class="runs" aria-label=${T.region}>
    ${repeat(
      shown,
      ({ id }) => id,
      (run) => runBar(run, runs, actions),
    )}
  </section>`;
}

function runBar(run: Run, runs: Runs, actions: Actions): TemplateResult {
  const isOpen = runs.opened === run.id && failedOf(run) > 0;
  const finished = run.done + run.unchanged + run.failed;
  const facts = isGoingOn(run)
    ? [
        T.of(finished, run.total),
        run.state === 'running' && runs.rate !== undefined ? T.rate(runs.rate) : '',
        run.secondsLeft === null ? '' : T.left(run.secondsLeft),
      ].filter(Boolean)
    : [];
  const isEmpty = !isGoingOn(run) && run.done + run.unchanged + failedOf(run) === 0;
  const absent = absentOf(run).map((path) => html`<span class="absent">${T.absent(path)}</span>`);
  return html`<div class="run">
    ${isGoingOn(run) ? html`<progress aria-label=${T.progress} max=${Math.max(1, run.total)} .value=${finished}></progress>` : nothing}
    <div class="run-line">
      ${absent.length > 0 && isEmpty ? nothing : html`<span class="what" title=${run.source}>${titleOf(run)}</span>`}
      ${absent} <span class="facts">${facts.join(' · ')}</span>
      ${
        failedOf(run) > 0
          ? html`<button class="quiet bad" aria-expanded=${isOpen} @click=${() => actions.openRun(isOpen ? null : run.id)}>
              ${T.failed(failedOf(run))} · ${isOpen ? T.hide : T.show}
            </button>`
          : nothing
      }
      ${isGoingOn(run) ? nothing : html`<button class="quiet" aria-label=${T.dismiss} title=${T.dismiss} @click=${() => actions.dismissRun(run.id)}>×</button>`}
    </div>
    ${isOpen ? failures(run, runs, actions) : nothing}
  </div>`;
}

function titleOf(run: Run): string {
  if (run.state === 'running') return T.running(run.source);
  if (run.state === 'paused') return T.paused(run.source);
  if (run.state === 'stopped') return T.stopped(run.source);
  return run.state === 'failed' ? T.broken(run.source) : `${T.done(run.done, run.unchanged)}: ${run.source}`;
}

function failures(run: Run, { retrying, ended }: Runs, actions: Actions): TemplateResult {
  const command = `npx akin-search index ${shellText(run.source)}`;
  const reasons = [...byCode(run.failures.filter(({ code }) => code !== 'absent'))].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  return html`<div class="failures" role="region" aria-label=${T.failuresOf} tabindex="0">
    <div class="failures-head">
      ${
        isGoingOn(run)
          ? nothing
          : ended.has(run.id)
            ? html`<span>${T.again} <code>${command}</code></span> <button @click=${() => actions.copy(command)}>${TEXTS.page.copy}</button>`
            : html`<button ?disabled=${retrying.has(run.id)} @click=${() => actions.retryRun(run.id)}>${T.retry}</button>`
      }
      <button @click=${() => saveFailures(run)}>${T.csv}</button>
    </div>
    ${reasons.map(
      ([code, failed], i) => html`<details ?open=${i === 0 || run.failures.length <= 20}>
        <summary>${TEXTS.reasons[code] ?? code} <span class="count">${failed.length}</span></summary>
        <ul>${failed.map((failure) => html`<li><code>${failure.path}</code><span>${failure.msg}</span></li>`)}</ul>
      </details>`,
    )}
    ${run.failuresMore > 0 ? html`<p class="about">${T.more(run.failuresMore)}</p>` : nothing}
  </div>`;
}

/** A text as one word of a shell. */
function shellText(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function byCode(failures: readonly RunFailure[]): Map<string, RunFailure[]> {
  const groups = new Map<string, RunFailure[]>();
  for (const failure of failures) {
    const group = groups.get(failure.code);
    if (group) group.push(failure);
    else groups.set(failure.code, [failure]);
  }
  return groups;
}

function saveFailures({ id, failures: all }: Run): void {
  const rows = all.map(({ path, code, msg }) => [path, code, msg]);
  saveCsv(`akin-failures-${id.slice(0, 8)}.csv`, [['path', 'code', 'message'], ...rows]);
}
