import type { Actions } from '../actions.ts';
import type { Model } from '../model.ts';
import { documentActions } from './document-actions.ts';
import { reviewActions } from './review-actions.ts';
import { searchActions } from './search-actions.ts';
import { viewActions } from './view-actions.ts';

/** @param hasKey whether requests send a key */
export function createActions(model: Model, hasKey: boolean): Actions {
  return {
    ...searchActions(model, hasKey),
    ...documentActions(model),
    ...reviewActions(model),
    ...viewActions(model),
  };
}
