// npm run release-version: makes the next version and its changelogs from the files in .changeset, and writes the
// version into the tag of the image that the Kubernetes manifests use, and into the client for Python.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { ROOT } from './prepare.mjs';

execFileSync('npm', ['run', 'changeset', 'version'], { cwd: ROOT, stdio: 'inherit' });
const { version } = JSON.parse(readFileSync(`${ROOT}apps/akin/package.json`, 'utf8'));
for (const [file, pattern] of [
  ['infra/kubernetes/kustomization.yaml', /(newTag: )\S+/],
  ['docs/containers.md', /(the image `akin:)[^`]+/],
  ['clients/python/akin_client/__init__.py', /(__version__ = ")[^"]+/],
]) {
  writeFileSync(`${ROOT}${file}`, readFileSync(`${ROOT}${file}`, 'utf8').replace(pattern, `$1${version}`));
}
