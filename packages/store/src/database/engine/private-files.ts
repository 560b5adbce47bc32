import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** The parts of Emscripten's file system on Node that set permissions of files. */
interface NodeFiles {
  readonly node_ops: {
    setattr(node: unknown, attributes: { readonly mode?: number }): void;
    mknod(parent: unknown, name: string, mode: number, device: number): unknown;
  };
  readonly stream_ops: { setattr(stream: unknown, attributes: { readonly mode?: number }): void };
}

const OTHERS = 0o077;

/**
 * The folder of a database whose files no other user may read or write. PGlite requests mode 666 for each new file, and
 * sets it again afterwards, so the umask of the process has no effect.
 */
export class PrivateFiles extends NodeFS {
  override async init(pg: PGlite, options: Parameters<NodeFS['init']>[1]): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options);
    const preRun = [...(emscriptenOpts.preRun ?? []), (module: Module) => closeToOthers(module.FS.filesystems.NODEFS)];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } } as Awaited<ReturnType<NodeFS['init']>>;
  }
}

type Module = { readonly FS: { readonly filesystems: { readonly NODEFS: NodeFiles } } };

function closeToOthers({ node_ops, stream_ops }: NodeFiles): void {
  const { setattr, mknod } = node_ops;
  const setStream = stream_ops.setattr;
  const closed = <A extends { readonly mode?: number }>(attributes: A): A =>
    attributes.mode === undefined ? attributes : { ...attributes, mode: attributes.mode & ~OTHERS };
  node_ops.setattr = (node, attributes) => setattr(node, closed(attributes));
  node_ops.mknod = (parent, name, mode, device) => mknod(parent, name, mode & ~OTHERS, device);
  stream_ops.setattr = (stream, attributes) => setStream(stream, closed(attributes));
}
