export { askUser } from './ask-user.ts';
export { copySelected, labelSelected } from './bulk-actions.ts';
export { deleteDocuments } from './deleting.ts';
export { addLabels, askForLabel, editField, editTitle, removeLabel } from './edit-document.ts';
export { deleteForGood, restoreDocuments } from './trash.ts';
