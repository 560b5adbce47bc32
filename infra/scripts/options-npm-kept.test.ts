import { expect, it } from '@jest/globals';
import { intendedCommand } from './options-npm-kept.mjs';

it.each<[Record<string, string>, string[], string | undefined]>([
  [{ npm_config_port: 'true' }, ['9303'], 'npm start -- --port 9303'],
  [{ npm_config_port: '9303' }, [], 'npm start -- --port=9303'],
  [{ npm_config_data: 'true', npm_config_open: '' }, ['here'], 'npm start -- --no-open --data here'],
  [{ npm_config_database_url: 'true' }, ['postgres://x'], 'npm start -- --database-url postgres://x'],
  [{ npm_config_noproxy: '', npm_config_nodedir: '/usr' }, ['--port', '9303'], undefined],
])('knows the command that was meant when npm kept %j and passed on %j', (env, words, command) => {
  expect(intendedCommand(env, words)).toBe(command);
});
