// The TypeScript SDK 1.x over Streamable HTTP: a tool that asks the client before it answers.
// The question belongs to no request, so it leaves on the stream that the client opens by GET.
// Without such a stream it is dropped.
// usage: typescript1_asking.cjs, with the packages on NODE_PATH
"use strict";

const { randomUUID } = require("node:crypto");
const { createServer } = require("node:http");
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const {
  StreamableHTTPServerTransport,
} = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { CallToolRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const sessions = new Map();

async function begun() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  const server = new Server({ name: "asking", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, async () => {
    const { roots } = await server.listRoots();
    return { content: [{ type: "text", text: roots.map((root) => root.uri).join(" ") }] };
  });
  await server.connect(transport);
  return transport;
}

const http = createServer(async (request, response) => {
  const known = sessions.get(request.headers["mcp-session-id"]);
  await (known ?? (await begun())).handleRequest(request, response);
});
http.listen(0, "127.0.0.1", () => console.log(`at http://127.0.0.1:${http.address().port}`));
