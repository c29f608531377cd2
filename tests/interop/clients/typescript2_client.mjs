// A client on npm's @modelcontextprotocol/client (2.x): goes through flow.mjs, prints JSON.
// usage: typescript2_client.mjs MODE SERVER UNKNOWN; MODE is "legacy" or "auto", the last two are
// commands as JSON lists, of the server of the tests and of the one that sends unknown members.
import { createRequire } from "node:module";
import { CAPABILITIES, ROOTS, WRITTEN, NEWS, command, kept, run, use } from "./flow.mjs";

const load = createRequire(process.env.NODE_PATH + "/"); // `import` does not look there
const { Client } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");

async function open(words, mode) {
  const info = { name: "typescript2", version: "1" };
  const client = new Client(info, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  const news = [];
  const logs = [];
  client.setRequestHandler("sampling/createMessage", async () => WRITTEN);
  client.setRequestHandler("roots/list", async () => ROOTS);
  NEWS.forEach((method) => client.setNotificationHandler(method, () => void news.push(method)));
  client.setNotificationHandler("notifications/message", ({ params }) => {
    logs.push([params.level, params.data]);
  });
  await client.connect(new StdioClientTransport(command(words)));
  const version = () => client.getNegotiatedProtocolVersion();
  return { client, version, news, logs, callWith: client.callTool.bind(client) };
}

run(async () => {
  const [mode, server, unknown] = process.argv.slice(2);
  const session = await open(server, mode);
  const found = await use(session);
  await session.client.close();
  const { client } = await open(unknown, mode);
  const [tool] = (await client.listTools()).tools;
  found["unknown members"] = kept(client.getServerCapabilities(), tool);
  await client.close();
  return found;
});
