// The TypeScript SDK 1.x as its users write it.
// usage: typescript.cjs serve|memory|client [COMMAND...], with the packages on NODE_PATH
"use strict";

const { createInterface } = require("node:readline");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { InMemoryTransport } = require("@modelcontextprotocol/sdk/inMemory.js");
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { z } = require("zod");

const [mode, command, ...args] = process.argv.slice(2);

const server = new McpServer({ name: "echo", version: "1" });
server.registerTool("echo", { inputSchema: { text: z.string() } }, async ({ text }) => ({
  content: [{ type: "text", text }],
}));

async function drive(transport) {
  const client = new Client({ name: "bench", version: "0" });
  await client.connect(transport);
  const call = (text) => client.callTool({ name: "echo", arguments: { text } });
  console.log("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    const [calls, atOnce, size] = line.split(" ").map(Number);
    const text = "x".repeat(size);
    if ((await call(text)).content[0].text !== text) throw new Error("the text did not come back");
    const repeat = async () => {
      for (let done = 0; done < calls / atOnce; done++) await call(text);
    };
    await Promise.all(Array.from({ length: atOnce }, repeat));
    console.log("done");
  }
  await client.close();
}

async function main() {
  if (mode === "serve") {
    await server.connect(new StdioServerTransport());
  } else if (mode === "memory") {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    await drive(near);
  } else {
    await drive(new StdioClientTransport({ command, args }));
  }
}

main();
