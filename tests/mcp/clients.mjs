// clients.mjs - asks a server through the official clients what tests/mcp/test_clients.py wants to know, and prints it as JSON.
//
//   node clients.mjs '{"client": "sdk" | "client", "era": "legacy" | "modern" | "auto", "url": …, "token": … | "command": …, "args": […],
//                      "calls": [["tool", {arguments}], …]}'
//
// Modules come from the folder of NODE_MODULES; nothing here is resolved from beside this file.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const asked = JSON.parse(process.argv[2]);
const modules = process.env.NODE_MODULES;
const require = createRequire(join(modules, 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

async function parts() {
  if (asked.client === 'sdk') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return { Client, StdioClientTransport, StreamableHTTPClientTransport };
  }
  return { ...(await load('@modelcontextprotocol/client')), ...(await load('@modelcontextprotocol/client/stdio').catch(() => ({}))) };
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await parts();
const options = { capabilities: {} };
if (asked.era === 'modern') options.versionNegotiation = { mode: { pin: '2026-07-28' } };
if (asked.era === 'auto') options.versionNegotiation = { mode: 'auto' };
const client = new Client({ name: 'admitd-test', version: '1' }, options);
const transport = asked.url
  ? new StreamableHTTPClientTransport(new URL(asked.url), { requestInit: { headers: { Authorization: 'Bearer ' + asked.token } } })
  : new StdioClientTransport({ command: asked.command, args: asked.args, env: process.env, stderr: 'inherit' });
await client.connect(transport);
const { tools } = await client.listTools();
const calls = [];
for (const [name, args] of asked.calls ?? []) {
  try {
    calls.push({ result: await client.callTool({ name, arguments: args }) });
  } catch (fault) {
    calls.push({ error: { code: fault.code, message: fault.message } });
  }
}
const said = {
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
  version: transport.protocolVersion ?? client.getNegotiatedProtocolVersion?.() ?? null,
  session: transport.sessionId ?? null,
  tools: tools.map((tool) => tool.name),
  calls,
};
await client.close();
process.stdout.write(JSON.stringify(said) + '\n');
