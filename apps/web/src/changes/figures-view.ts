import type { CollectionSummary } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { bytes, milliseconds, number, rate, timeLeft } from '../format.ts';
import type { LiveMetrics } from './figures.ts';
import { FIGURES_TEXTS as T } from './texts.ts';

export function figuresView(figures: LiveMetrics | null, status: CollectionSummary): TemplateResult {
  const shown = figures === null ? [] : figuresShown(figures);
  const { model } = status;
  return html`<section aria-label=${T.region}>
    <h2>${T.region}</h2>
    <dl class="figures">
      ${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
      ${model ? html`<div><dt>${T.model}</dt><dd title=${model.hash}>${model.name}${model.words ? ` · ${T.words}` : ''}</dd></div>` : nothing}
    </dl>
  </section>`;
}

function figuresShown(figures: LiveMetrics): [string, string][] {
  const all: [string, number | undefined, (value: number) => string][] = [
    [T.searches, figures.searchesPerSecond, rate],
    [T.searchTime, figures.searchSeconds, (seconds) => milliseconds(seconds * 1_000)],
    [T.analyses, figures.analysesPerSecond, rate],
    [T.queue, figures.queue, number],
    [T.lag, figures.lagSeconds, timeLeft],
    [T.memory, figures.memoryBytes, bytes],
    [T.vectors, figures.vectorBytes, bytes],
    [T.disk, figures.diskBytes, bytes],
  ];
  return all.flatMap(([name, value, text]): [string, string][] => (value === undefined ? [] : [[name, text(value)]]));
}
