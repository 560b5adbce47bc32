/**
 * The command that installs an optional package where akin finds it. A clone takes no packages of npm, because its own
 * need pnpm: there, the folder above it does.
 *
 * @param from URL of a file of akin
 */
export function installCommand(name: string, from: string = import.meta.url): string {
  const prefix = from.includes('/node_modules/') ? '' : '--prefix .. ';
  return `npm install ${prefix}--ignore-scripts ${name}`;
}
