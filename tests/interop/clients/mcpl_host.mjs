// A host of MCPL on npm's @modelcontextprotocol/client (2.x), which knows nothing of MCPL itself:
// goes through what the server of `runtime/programs/live.py` has, prints what it saw as JSON.
// usage: mcpl_host.mjs SERVER; a command as a JSON list, or a URL.
import { createRequire } from "node:module";
import { command, run } from "./flow.mjs";

const load = createRequire(process.env.NODE_PATH + "/"); // `import` does not look there
const sdk = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
const { z } = load("zod");

const MCPL = {
  version: "0.4",
  pushEvents: true,
  contextHooks: { beforeInference: true, afterInference: { blocking: true } },
  inferenceRequest: { streaming: true },
  channels: true,
  featureSets: true,
};
const TURN = {
  inferenceId: "inf_7",
  conversationId: "conv_1",
  turnIndex: 0,
  userMessage: "Tea?",
  model: { id: "big" },
};
const anything = z.looseObject({});
const any = { params: anything };

function target(server) {
  if (server.startsWith("[")) return new StdioClientTransport(command(server));
  return new sdk.StreamableHTTPClientTransport(new URL(server));
}

// Returns a client with handlers, which `note` what comes; `met` is notified of what is waited for.
function host(note, met) {
  const info = { name: "mcpl-host", version: "1" };
  const capabilities = { experimental: { mcpl: MCPL } };
  const client = new sdk.Client(info, { capabilities, versionNegotiation: { mode: "legacy" } });
  client.setRequestHandler("push/event", any, async ({ featureSet, eventId, payload }) => {
    note("push/event", [featureSet, eventId, payload.content]);
    return { accepted: true, inferenceId: `of_${eventId}` };
  });
  client.setRequestHandler("scope/elevate", any, async ({ scope }) => {
    note("scope/elevate", scope.label);
    return { approved: scope.label.startsWith("/home/"), payload: scope.payload };
  });
  client.setRequestHandler("inference/request", any, async ({ messages, stream }, ctx) => {
    note("inference/request", [messages[0].content, stream === true]);
    const requestId = ctx.mcpReq.id;
    for (const [index, delta] of (stream ? ["Be", "cause"] : []).entries())
      await client.notification({ method: "inference/chunk", params: { requestId, index, delta } });
    return { content: "Because", model: "big-1", finishReason: "end_turn" };
  });
  client.setRequestHandler("channels/register", any, async ({ channels }) => {
    note("channels/register", channels.map((one) => one.id));
    met("channels/register");
    return {};
  });
  client.setRequestHandler("channels/incoming", any, async ({ messages }) => {
    note("channels/incoming", messages.map((one) => one.messageId));
    met("channels/incoming");
    const taken = { accepted: true, conversationId: "conv_1" };
    return { results: messages.map(({ messageId }) => ({ messageId, ...taken })) };
  });
  return client;
}

run(async () => {
  const found = {};
  const waiting = {};
  const note = (key, value) => void (found[key] ??= []).push(value);
  const heard = (method) => new Promise((done) => (waiting[method] = done));
  const client = host(note, (method) => waiting[method]?.());
  const ask = (method, params) => client.request({ method, params }, anything);
  const tell = (method, params) => client.notification({ method, params });
  const call = async (name, args = {}) =>
    JSON.parse((await client.callTool({ name, arguments: args })).content[0].text);

  const registered = heard("channels/register");
  await client.connect(target(process.argv[2]));
  const offered = client.getServerCapabilities().experimental.mcpl;
  const enabled = Object.keys(offered.featureSets).filter((name) => name !== "channels.publish");
  await tell("featureSets/update", { enabled, disabled: ["channels.publish"] });
  await registered;

  note("switched", (await call("switched")).enabled.includes("channels.publish"));
  note("push", await call("push", { event_id: "evt_1", text: "Call Alice" }));
  note("elevate", await call("elevate", { label: "/home/a" }));
  note("elevate", await call("elevate", { label: "/etc/hosts" }));
  note("think", await call("think_aloud", { question: "Why?" }));

  const { featureSet, contextInjections } = await ask("context/beforeInference", TURN);
  note("context/beforeInference", [featureSet, contextInjections.map((one) => one.position)]);
  const said = { ...TURN, assistantMessage: "a secret" };
  note("context/afterInference", (await ask("context/afterInference", said)).modifiedResponse);

  // A notification: what the server asks because of it comes by itself.
  const incoming = heard("channels/incoming");
  await tell("context/afterInference", said);
  await incoming;

  const add = { name: "add_note", arguments: { text: "one", place: "/home/a" } };
  const first = (await client.callTool(add)).state;
  const second = (await client.callTool({ ...add, state: first.data })).state;
  note("tools/call", [first.data, second.parent === first.checkpoint, second.data ?? second.patch]);
  const back = { featureSet: "notes.edit", checkpoint: first.checkpoint };
  note("state/rollback", (await ask("state/rollback", back)).success);
  const published = { channelId: "chat:#general", content: "Hello" };
  note("channels/publish", await ask("channels/publish", published).catch((error) => error.code));
  await tell("featureSets/update", { enabled: ["channels.publish"] });
  note("channels/publish", (await ask("channels/publish", published)).delivered);
  await client.close();
  return found;
});
