// What a client in TypeScript's SDKs does with the interop server; `flow.py` is the same in Python.
// The programs beside this file give it a client with handlers, and what is named otherwise there.

const TODAY = "memo://today";
const TEXT = "grüße, 世界 \u{1f600}\u2028";
const TIMEOUT = 60_000; // milliseconds for the whole

export const ROOTS = { roots: [{ uri: "file:///home/ada" }] };
export const WRITTEN = {
  role: "assistant",
  content: { type: "text", text: "42" },
  model: "deep-thought",
};
export const CAPABILITIES = { sampling: {}, roots: { listChanged: true } };

const LISTS = ["tools", "resources", "prompts"];
export const NEWS = [
  ...LISTS.map((name) => `notifications/${name}/list_changed`),
  "notifications/resources/updated",
];

const text = (result) => result.content[0]?.text ?? "";
const pause = () => new Promise((done) => setTimeout(done, 10));

async function failure(client, tool, args) {
  try {
    return (await client.callTool({ name: tool, arguments: args })).isError ? "isError" : null;
  } catch (error) {
    return error.code;
  }
}

async function giveUp(client, tool, options) {
  const controller = new AbortController();
  const onprogress = () => controller.abort();
  await options({ name: tool }, { signal: controller.signal, onprogress }).catch(() => {});
}

// `news` has the methods of notifications as they came, `logs` the log messages.
export async function use({ client, version, news, logs, callWith }) {
  const progress = [];
  const onprogress = (report) => progress.push([report.progress, report.total]);
  const call = async (name, args = {}) => text(await client.callTool({ name, arguments: args }));
  const found = {};
  found["initialize"] = { server: client.getServerVersion().name, version: version() };

  const names = [];
  let page = {};
  do {
    page = await client.listTools(page.nextCursor ? { cursor: page.nextCursor } : undefined);
    names.push(...page.tools.map((tool) => tool.name));
  } while (page.nextCursor);
  found["tools/list"] = [...new Set(names)].sort(); // v2 fetches all pages by itself
  found["resources/list"] = (await client.listResources()).resources.map((one) => one.uri);
  const templates = (await client.listResourceTemplates()).resourceTemplates;
  found["resources/templates/list"] = templates.map((one) => one.uriTemplate);
  found["resources/read"] = (await client.readResource({ uri: TODAY })).contents[0].text;
  found["prompts/list"] = (await client.listPrompts()).prompts.map((one) => one.name);
  const prompt = await client.getPrompt({ name: "plan", arguments: { day: "Monday" } });
  found["prompts/get"] = prompt.messages[0].content.text;
  const ref = { type: "ref/prompt", name: "plan" };
  const done = await client.complete({ ref, argument: { name: "day", value: "T" } });
  found["completion/complete"] = done.completion.values;

  found["tools/call"] = await call("echo", { message: TEXT });
  await callWith({ name: "count", arguments: { to: 3 } }, { onprogress });
  found["notifications/progress"] = progress;
  found["sampling/createMessage"] = await call("ask");
  found["roots/list"] = await call("where");
  await client.ping();
  found["ping"] = await call("knock");
  await client.setLoggingLevel("notice");
  await call("speak");
  found["notifications/message"] = logs;
  found["unknown tool"] = await failure(client, "nosuch", {});
  found["bad arguments"] = await failure(client, "count", { to: "three" });

  await client.subscribeResource({ uri: TODAY });
  await call("change");
  await client.unsubscribeResource({ uri: TODAY });
  await call("change"); // of which only the lists are notified
  const count = (method) => news.filter((one) => one === method).length;
  while (LISTS.some((name) => count(`notifications/${name}/list_changed`) < 2)) await pause();
  for (const method of NEWS) found[method] = count(method);

  await giveUp(client, "wait", callWith);
  await client.sendRootsListChanged();
  while ((await call("heard")) !== "cancelled roots") await pause();
  found["notifications/cancelled"] = found["notifications/roots/list_changed"] = "heard";
  return found;
}

export const kept = (capabilities, tool) => ({
  "capabilities.mgp": "mgp" in capabilities,
  "capabilities.experimental.mcpl": "mcpl" in (capabilities.experimental ?? {}),
  "tool.security": "security" in tool,
  "tool._meta.security": "security" in (tool._meta ?? {}),
});

export const command = (words) => {
  const [command, ...args] = JSON.parse(words);
  return { command, args };
};

// Ends the program whatever happens; `main` returns what is printed.
export function run(main) {
  setTimeout(() => process.exit(3), TIMEOUT).unref();
  main().then(
    (found) => process.stdout.write(JSON.stringify(found) + "\n", () => process.exit(0)),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
}
