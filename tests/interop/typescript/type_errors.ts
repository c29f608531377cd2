// What the types of `kinwire generate --language typescript` refuse, and what they take. Each line
// below `@ts-expect-error` has to be an error of the compiler, and no other line may be one.
import type * as mcp from "./protocols/mcp.js";
import { errors } from "./protocols/mcp.methods.js";
import type * as mcpMethods from "./protocols/mcp.methods.js";
import type * as mcpl from "./protocols/mcpl.js";
import type * as mcplMethods from "./protocols/mcpl.methods.js";
import type * as mgpMethods from "./protocols/mgp.methods.js";
import type * as hard from "./hard/new.js";
import { enums, errors as hardErrors, methods } from "./hard/new.methods.js";
import type * as hardMethods from "./hard/new.methods.js";

declare function take<T>(value: T): void;

// Objects: fields are checked, and any object is assignable to one with unknown fields.
take<mcp.Tool>({ name: "a", inputSchema: { type: "object" } });
// @ts-expect-error a required field is missing
take<mcp.Tool>({ name: "a" });
// @ts-expect-error a misspelled field
take<mcp.Tool>({ name: "a", inputSchema: { type: "object" }, descripion: "b" });
// @ts-expect-error undefined is not the same as absent
take<mcp.Tool>({ name: "a", inputSchema: { type: "object" }, description: undefined });
declare const tool: mcp.Tool;
take<{ [key: string]: unknown }>(tool);
take<hard.Object>({ anything: 1 });

// Unions distinguished by a tag are narrowed by it.
export function size(block: mcp.ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "image":
    case "audio":
      return block.data.length;
    case "resource":
      return 0;
    default:
      return block satisfies never;
  }
}
// @ts-expect-error the fields of another tag
take<mcp.ContentBlock>({ type: "text", data: "a", mimeType: "b" });

// Open sets take other values, closed ones do not.
take<hard.Words>("a");
take<hard.Words>("z");
// @ts-expect-error not a text
take<hard.Words>(1);
take<mcp.LoggingLevel>("notice");
// @ts-expect-error not a level
take<mcp.LoggingLevel>("loud");

// One group of fields has to be whole.
take<hard.Source>({ data: "a" });
take<hard.Source>({ uri: "a", note: "b" });
// @ts-expect-error neither of the two
take<hard.Source>({ note: "b" });
take<mcpl.AudioBlock>({ type: "audio", uri: "a" });
// @ts-expect-error `data` needs a `mimeType`
take<mcpl.AudioBlock>({ type: "audio", data: "a" });

// Names that are not identifiers, names of globals, maps, and integers with names.
const strange = { "a-b": "a", ["__proto__"]: 1, 'quo"te': "b", "line\nbreak": "c", class: "d" };
take<hard.Strange>({ ...strange, constructor: true });
take<hard.Array>(["a"]);
// @ts-expect-error an array of texts
take<hard.Array>([1]);
take<hard.Tree>({ a: { b: null } });
// @ts-expect-error a leaf is null
take<hard.Tree>({ a: { b: 1 } });
take<hard.Level>(enums.Level.LOW);
take<2>(enums.Level.HIGH);
// @ts-expect-error not one of the integers
take<hard.Level>(3);

// Params by position are tuples.
take<hardMethods.ParamsOf<"range/get">>([1, 2]);
take<hardMethods.ParamsOf<"r">>([1, 2, "a"]);
// @ts-expect-error the second is required
take<hardMethods.ParamsOf<"range/get">>([1]);
// @ts-expect-error too many
take<hardMethods.ParamsOf<"range/get">>([1, 2, "a", 3]);
take<hardMethods.ParamsOf<"odd">>([null]);
take<hardMethods.ParamsOf<"nothing">>(undefined);
// @ts-expect-error only considered
take<hardMethods.MethodName>("$/later");
take<string | undefined>(methods.r.aliasOf);

// The table says who sends what, and what is answered.
take<mcpMethods.SentBy<"client">>("tools/call");
take<mcpMethods.SentBy<"client">>("ping");
// @ts-expect-error only servers send it
take<mcpMethods.SentBy<"client">>("sampling/createMessage");
take<mcpMethods.ReceivedBy<"client">>("sampling/createMessage");
take<mcpMethods.ResultOf<"tools/list">>({ tools: [] });
// @ts-expect-error the result of another method
take<mcpMethods.ResultOf<"tools/list">>({ prompts: [] });
export const handlers: Partial<mcpMethods.Handlers<"server">> = {
  "tools/call": async ({ name }) => ({ content: [{ type: "text", text: name }] }),
  "notifications/initialized": () => {},
  // @ts-expect-error a result without its fields
  "prompts/list": () => ({}),
};

// Messages as they are on the wire.
const head = { jsonrpc: "2.0", id: 1 } as const;
take<mcpMethods.RequestOf<"tools/list">>({ ...head, method: "tools/list" });
take<mcpMethods.RequestOf<"tools/call">>({ ...head, method: "tools/call", params: { name: "a" } });
// @ts-expect-error params are required
take<mcpMethods.RequestOf<"tools/call">>({ ...head, method: "tools/call" });
// @ts-expect-error a notification has no id
take<mcpMethods.NotificationOf<"notifications/initialized">>({
  ...head,
  method: "notifications/initialized",
});
take<mcplMethods.NotificationOf<"context/afterInference">["method"]>("context/afterInference");
take<mcpMethods.ResponseOf<"tools/list">>({ ...head, result: { tools: [] } });

// Errors, tools and fields that a protocol adds to messages of another.
take<-32002>(errors.ResourceNotFound.code);
take<string>(hardErrors.NoSuchThing.message);
take<number>(({} as hardMethods.ErrorData).NoSuchThing.__proto__);
take<keyof mgpMethods.Tools>("mgp.tools.discover");
take<mcplMethods.Augments["tools/call params"]>({});
