/** What adds pictures, which is loaded when somebody first does so. */
export { addFiles, addFilesAgain, askToAdd } from './add-files.ts';
export { failedFilesOf } from './add-pictures.ts';
