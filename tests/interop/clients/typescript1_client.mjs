// A client on npm's @modelcontextprotocol/sdk (1.x): goes through flow.mjs, prints JSON.
// usage: typescript1_client.mjs MODE SERVER [UNKNOWN]; MODE is "legacy", the last two are the server
// of the tests and the one that sends unknown members, a command as a JSON list or a URL each.
import { createRequire } from "node:module";
import { CAPABILITIES, ROOTS, WRITTEN, NEWS, command, kept, run, use } from "./flow.mjs";

const load = createRequire(process.env.NODE_PATH + "/"); // `import` does not look there
const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { SSEClientTransport } = load("@modelcontextprotocol/sdk/client/sse.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const types = load("@modelcontextprotocol/sdk/types.js");

const SCHEMAS = [
  types.ToolListChangedNotificationSchema,
  types.ResourceListChangedNotificationSchema,
  types.PromptListChangedNotificationSchema,
  types.ResourceUpdatedNotificationSchema,
];

function target(server) {
  if (server.startsWith("[")) return new StdioClientTransport(command(server));
  const Transport = server.endsWith("/sse") ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Transport(new URL(server));
}

async function open(server) {
  const client = new Client({ name: "typescript1", version: "1" }, { capabilities: CAPABILITIES });
  const news = [];
  const logs = [];
  client.setRequestHandler(types.CreateMessageRequestSchema, async () => WRITTEN);
  client.setRequestHandler(types.ListRootsRequestSchema, async () => ROOTS);
  NEWS.forEach((method, i) => client.setNotificationHandler(SCHEMAS[i], () => void news.push(method)));
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => {
    logs.push([params.level, params.data]);
  });
  const transport = target(server);
  let version; // the client keeps it to itself: it tells the transport
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (negotiated) => (tell?.(negotiated), (version = negotiated));
  await client.connect(transport);
  const callWith = (params, options) => client.callTool(params, undefined, options);
  return { client, version: () => version, news, logs, callWith };
}

run(async () => {
  const [, server, unknown] = process.argv.slice(2);
  const session = await open(server);
  const found = await use(session);
  await session.client.close();
  if (!unknown) return found;
  const { client } = await open(unknown);
  const [tool] = (await client.listTools()).tools;
  found["unknown members"] = kept(client.getServerCapabilities(), tool);
  await client.close();
  return found;
});
