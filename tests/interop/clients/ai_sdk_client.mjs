// A client on npm's @ai-sdk/mcp: uses what it has methods for, prints what came of it as JSON.
// usage: ai_sdk_client.mjs MODE SERVER UNKNOWN; MODE is "auto" (its probe for a later protocol goes
// first) or "legacy", the last two are commands as JSON lists, of the server of the tests and of
// the one that sends unknown members.
import { createRequire } from "node:module";
import { command, kept, run } from "./flow.mjs";

const load = createRequire(process.env.NODE_PATH + "/"); // `import` does not look there
const { createMCPClient } = load("@ai-sdk/mcp");
const { Experimental_StdioMCPTransport: StdioTransport } = load("@ai-sdk/mcp/mcp-stdio");

const TODAY = "memo://today";
const TEXT = "grüße, 世界 \u{1f600}\u2028";

const open = (words, mode) =>
  createMCPClient({
    transport: new StdioTransport(command(words)),
    protocolVersionDiscovery: mode === "auto",
  });

const text = (result) => result.content[0]?.text ?? "";

async function failure(client, name, args) {
  try {
    return (await client.callTool({ name, arguments: args })).isError ? "isError" : null;
  } catch (error) {
    return error.code ?? String(error);
  }
}

async function use(client) {
  const { serverInfo, protocolVersion } = client.initializeResult;
  const found = { initialize: { server: serverInfo.name, version: protocolVersion } };
  const names = [];
  let page = {};
  do {
    page = await client.listTools({ params: { cursor: page.nextCursor } });
    names.push(...page.tools.map((tool) => tool.name));
  } while (page.nextCursor);
  found["tools/list"] = names.sort();
  found["resources/list"] = (await client.listResources()).resources.map((one) => one.uri);
  const templates = (await client.listResourceTemplates()).resourceTemplates;
  found["resources/templates/list"] = templates.map((one) => one.uriTemplate);
  found["resources/read"] = (await client.readResource({ uri: TODAY })).contents[0].text;
  found["prompts/list"] = (await client.listPrompts()).prompts.map((one) => one.name);
  const prompt = await client.getPrompt({ name: "plan", arguments: { day: "Monday" } });
  found["prompts/get"] = prompt.messages[0].content.text;
  const call = async (name, args = {}) => text(await client.callTool({ name, arguments: args }));
  found["tools/call"] = await call("echo", { message: TEXT });
  found["ping"] = await call("knock");
  found["unknown tool"] = await failure(client, "nosuch", {});
  found["bad arguments"] = await failure(client, "count", { to: "three" });
  return found;
}

run(async () => {
  const [mode, server, unknown] = process.argv.slice(2);
  const client = await open(server, mode);
  const found = await use(client);
  await client.close();
  const other = await open(unknown, mode);
  const [tool] = (await other.listTools()).tools;
  found["unknown members"] = kept(other.initializeResult.capabilities, tool);
  await other.close();
  return found;
});
