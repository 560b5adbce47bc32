import type { SearchActions } from '../actions.ts';
import { hasParts } from '../common-parts/common-parts.ts';
import { EDITS } from '../edits/lazy.ts';
import { filterText } from '../facets.ts';
import { filtersOfOthers } from '../filters/one-of-each.ts';
import { lazyPart } from '../lazy.ts';
import type { Model } from '../model.ts';
import { navigate } from '../navigation.ts';
import { REGIONS } from '../region/lazy.ts';
import { forgetSearch, saveSearch } from '../saved.ts';
import { findValues, search } from '../search.ts';
import { readSearchBox } from '../search-box.ts';
import { SIDE_BY_SIDE } from '../side-by-side/lazy.ts';
import { updateStatus } from '../status.ts';
import { TEXTS } from '../texts.ts';
import { fileOfQuery, queryOfFile } from '../upload.ts';
import { type ViewState, writeState } from '../view-state.ts';
import { canRankByText, wordsOf } from '../words.ts';
import { loadAndRun } from './load-and-run.ts';

/** Pictures of one search by examples: more would hardly change the mean. */
const MAX_EXAMPLES = 20;

const REQUESTS = lazyPart(() => import('../request/show-request.ts'));

export function searchActions(model: Model, hasKey: boolean): SearchActions {
  const go = (change: Partial<ViewState>) => navigate(model, change);
  const actions: SearchActions = {
    searchBy: (query, mode) =>
      go({
        view: 'search',
        query,
        mode: mode ?? model.state.mode,
        examples: [],
        minScore: 0,
        ...(query ? { words: '' } : {}),
      }),
    setMode: (mode) => go({ mode }),
    setWords(text) {
      const asked = readSearchBox(text);
      if ('words' in asked) actions.searchByText(asked.words);
      else actions.searchBy(asked.query, asked.query.by === 'hex' ? 'color' : undefined);
    },
    searchByText(asked, searchIn = 'both') {
      const text = asked.trim();
      if (searchIn !== 'text' && canRankByText(text, model.pageData)) {
        const query = { by: 'text', text, searchIn } as const;
        go({ view: 'search', words: '', query, mode: 'content', examples: [], minScore: 0 });
      } else go({ view: 'search', words: text, query: null });
    },
    setExample(id, sign) {
      const others = model.state.examples.filter((one) => one.id !== id);
      go({ examples: sign === null ? others : [...others, { id, sign }] });
    },
    setThreshold: (minScore) => go({ minScore }),
    searchBySelected() {
      const [first, ...others] = [...model.pageData.selected].slice(0, MAX_EXAMPLES);
      if (first === undefined) return;
      const examples = others.map((id) => ({ id, sign: 'more' as const }));
      model.update({ selected: new Set() });
      go({ view: 'search', words: '', query: { by: 'id', id: first }, mode: 'content', examples, minScore: 0 });
    },
    async saveSearch() {
      const { filters } = model.state;
      const value = [wordsOf(model.state), ...filters.map(filterText)].filter(Boolean).join(', ').slice(0, 100);
      const { ask: title, action, name } = TEXTS.saved;
      const input = { label: name, value };
      const answer = await loadAndRun(model, EDITS, ({ askUser }) => askUser({ title, action, input }));
      if (answer) model.update({ saved: saveSearch({ name: answer.text, address: writeState(model.state) }) });
    },
    forgetSearch: (name) => model.update({ saved: forgetSearch(name) }),
    showFresh() {
      scrollTo({ top: 0 });
      void search(model, 0, true);
    },
    askAgain: () => void updateStatus(model),
    removeFilter: (filter) => go({ filters: model.state.filters.filter((one) => one !== filter) }),
    setFilters: (filters) => go({ filters: [...filters] }),
    showOthers: (document) => go({ filters: filtersOfOthers(model.state.filters, document) }),
    addFilter: (filter) => go({ filters: [...new Set([...model.state.filters, filter])] }),
    setOrder: (sort) => go({ sort }),
    findValues: (field, contains) => findValues(model, field, contains),
    showRequest: (form) => void loadAndRun(model, REQUESTS, (part) => part.showRequest(model, form, hasKey)),
    compareWith(other) {
      if (other === null) model.update({ sideBySide: null });
      else void loadAndRun(model, SIDE_BY_SIDE, (part) => part.compareWith(model, other));
    },
    async searchPart(document) {
      const { query } = model.state;
      const file = document === undefined ? fileOfQuery(query) : undefined;
      if (file) {
        const part = await loadAndRun(model, REGIONS, ({ partOfFile }) => partOfFile(model, file));
        if (part) await actions.upload(part);
        return;
      }
      const id = document?.id ?? (query?.by === 'id' ? query.id : undefined);
      const before = query?.by === 'id' && query.id === id ? query.region : undefined;
      const known = document ?? model.pageData.documents.find((one) => one.id === id);
      const part = await loadAndRun(model, REGIONS, ({ partOfDocument, partOfAddress }) => {
        if (id !== undefined) return partOfDocument(model, id, known, before);
        return query?.by === 'url' ? partOfAddress(model, query) : null;
      });
      if (part) actions.searchBy(part, 'content');
    },
    async upload(file) {
      model.forgetPreview();
      const preview = URL.createObjectURL(file);
      model.update({ error: null, preview, opened: null, analyzing: true });
      scrollTo({ top: 0 });
      // If the user has left the view, the response is not needed.
      const isWanted = () => model.pageData.analyzing && model.pageData.preview === preview;
      try {
        const keepsPicture = await hasParts(model).catch(() => false);
        const query = await queryOfFile(model.collection, file, keepsPicture);
        if (isWanted()) go({ view: 'search', query, words: '', examples: [], minScore: 0 });
      } catch (error) {
        if (!isWanted()) return;
        model.forgetPreview();
        model.update({ analyzing: false, error: model.messageFor(error) });
      }
    },
  };
  return actions;
}
