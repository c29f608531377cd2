// A client on npm's @modelcontextprotocol/client (2.x): goes through flow.mjs, prints JSON.
// usage: typescript2_client.mjs MODE SERVER [UNKNOWN]; MODE is "legacy" or "auto", the last two are
// the server of the tests and the one that sends unknown members, a command as a JSON list or a URL
// each.
import { createRequire } from "node:module";
import { CAPABILITIES, ROOTS, WRITTEN, NEWS, command, kept, run, use } from "./flow.mjs";

const load = createRequire(process.env.NODE_PATH + "/"); // `import` does not look there
const sdk = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");

function target(server) {
  if (server.startsWith("[")) return new StdioClientTransport(command(server));
  const kind = server.endsWith("/sse") ? "SSEClientTransport" : "StreamableHTTPClientTransport";
  return new sdk[kind](new URL(server));
}

async function open(server, mode) {
  const info = { name: "typescript2", version: "1" };
  const client = new sdk.Client(info, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  const news = [];
  const logs = [];
  client.setRequestHandler("sampling/createMessage", async () => WRITTEN);
  client.setRequestHandler("roots/list", async () => ROOTS);
  NEWS.forEach((method) => client.setNotificationHandler(method, () => void news.push(method)));
  client.setNotificationHandler("notifications/message", ({ params }) => {
    logs.push([params.level, params.data]);
  });
  await client.connect(target(server));
  const version = () => client.getNegotiatedProtocolVersion();
  return { client, version, news, logs, callWith: client.callTool.bind(client) };
}

run(async () => {
  const [mode, server, unknown] = process.argv.slice(2);
  const session = await open(server, mode);
  const found = await use(session);
  await session.client.close();
  if (!unknown) return found;
  const { client } = await open(unknown, mode);
  const [tool] = (await client.listTools()).tools;
  found["unknown members"] = kept(client.getServerCapabilities(), tool);
  await client.close();
  return found;
});
