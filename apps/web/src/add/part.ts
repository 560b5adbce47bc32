export { addFiles, addFilesAgain, askToAdd } from './add-files.ts';
export { failedFilesOf } from './add-pictures.ts';
