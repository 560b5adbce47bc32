export { loadManageState } from './load-manage-state.ts';
export { manageView } from './manage.ts';
export {
  clearDemo,
  createCollection,
  createKey,
  dropCollection,
  pauseReindex,
  pullModel,
  reindex,
  resumeReindex,
  revokeKey,
  setNewModel,
  stopPull,
} from './manage-actions.ts';
