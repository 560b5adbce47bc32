/** Options of `akin serve` that npm takes for settings of its own if no `--` is before them. */
const NAMES =
  'port host data database-url collection threads demo open cors require-keys first-key labels-from-folders';

/**
 * The command that the user meant; undefined if npm kept no option of akin.
 *
 * @param {Readonly<Record<string, string | undefined>>} env npm sets a variable for each option that it kept
 * @param {readonly string[]} words the arguments that npm passed on
 * @returns {string | undefined}
 */
export function intendedCommand(env, words) {
  const kept = NAMES.split(' ').flatMap((name) => {
    const value = env[`npm_config_${name.replaceAll('-', '_')}`];
    if (value === undefined) return [];
    if (value === '') return [`--no-${name}`];
    return [value === 'true' ? `--${name}` : `--${name}=${value}`];
  });
  // npm passes the value on as a word if a blank is before it: the option without one comes last.
  const isWhole = (option) => /^--no-|=/.test(option);
  const options = [...kept.filter(isWhole), ...kept.filter((option) => !isWhole(option))];
  return options.length === 0 ? undefined : ['npm start --', ...options, ...words].join(' ');
}
