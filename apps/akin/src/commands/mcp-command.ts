import { findServer, SERVER_OPTIONS } from '../bulk/options.ts';
import { UsageError } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { akinVersion } from '../version.ts';

const INSTRUCTIONS =
  'akin finds pictures that look like others. Call describe_collection first: it lists the fields for filters.';

export const mcpCommand: CommandModule = {
  command: {
    name: 'mcp',
    usage: 'mcp',
    takesPositionals: false,
    description:
      'Lets agents search a running akin, by the Model Context Protocol on standard input and output: similar pictures, copies, search, adding a picture. It needs the package @modelcontextprotocol/sdk, installed with akin. See docs/mcp.md.',
    options: SERVER_OPTIONS,
  },

  async run(options, signal) {
    const { McpServer, StdioServerTransport, addTools } = await load();
    const { client, name } = await findServer(options);
    const collection = client.collection(name);
    // Not its status, which a key with a filter may not read.
    await collection.schema();
    const server = new McpServer({ name: 'akin', version: akinVersion() }, { instructions: INSTRUCTIONS });
    addTools(server, collection);
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      process.stdin.once('end', resolve).once('close', resolve);
    });
    await server.connect(new StdioServerTransport());
    await ended;
    await server.close();
    return 0;
  },
};

/** @throws UsageError if the SDK, which only this command needs, is not installed */
async function load() {
  try {
    const [{ McpServer }, { StdioServerTransport }, { addTools }] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/mcp.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('../mcp/tools.ts'),
    ]);
    return { McpServer, StdioServerTransport, addTools };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(
      'akin mcp needs @modelcontextprotocol/sdk, which is not installed with it: npx -p akin-search -p @modelcontextprotocol/sdk akin mcp',
    );
  }
}
