export { decodeBase64 } from '@akin/domain';
