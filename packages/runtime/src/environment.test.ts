import { describe, expect, it } from '@jest/globals';
import { EnvironmentError, envInteger, envList, envSwitch, envUrl, readEnvironment } from './environment.ts';

const SHAPE = {
  PORT: envInteger(1, 65535).default(8983),
  THREADS: envInteger(1, 64),
  CORS: envList,
  OPEN: envSwitch.default(false),
  DATABASE_URL: envUrl('postgres:', 'postgresql:').optional(),
};

describe('the environment', () => {
  it('is read into values, with defaults for what is not set or empty', () => {
    expect(readEnvironment(SHAPE, { THREADS: '2', CORS: 'a, b,', OPEN: '1', PORT: '', OTHER: 'x' })).toEqual({
      PORT: 8983,
      THREADS: 2,
      CORS: ['a', 'b'],
      OPEN: true,
    });
  });

  it('reports every wrong variable together, without repeating an address', () => {
    const read = () =>
      readEnvironment(SHAPE, { PORT: '70000', OPEN: 'perhaps', DATABASE_URL: 'mysql://ann:secret@host/db' });
    expect(read).toThrow(EnvironmentError);
    expect(read).toThrow(
      `These environment variables need another value:
  PORT: must be a whole number from 1 to 65535
  THREADS: is not set
  OPEN: must be true or false
  DATABASE_URL: must be an address that begins with postgres:// or postgresql://`,
    );
  });
});
