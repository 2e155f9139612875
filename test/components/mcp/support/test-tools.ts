import type { JsonObject } from "troupe";

/** What a tool of the test servers may do besides answering; each generation of the SDK has its own way. */
export interface ToolAccess {
  meta: JsonObject;
  signal: AbortSignal;
  progress(progress: number, total: number, message: string): Promise<void>;
  /** Asks the client. In the newer protocol the call ends here and is made again with the answer. */
  ask(id: string, method: string, params: JsonObject): Promise<JsonObject>;
}

/** A call as the server saw it. */
export interface SeenCall {
  name: string;
  args: JsonObject;
  meta: JsonObject;
  cancelled: boolean;
}

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const text = (value: string) => ({ content: [{ type: "text", text: value }] });

const noArguments = { type: "object", properties: {} };

type Run = (args: JsonObject, access: ToolAccess, seen: SeenCall) => Promise<object>;

interface TestTool {
  name: string;
  description?: string;
  inputSchema: JsonObject;
  annotations?: JsonObject;
  run: Run;
}

const TOOLS: TestTool[] = [
  {
    name: "echo",
    description: "Says the same.",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
    annotations: { readOnlyHint: true },
    run: async ({ text: said }) => text(`echo: ${said as string}`),
  },
  {
    name: "pay",
    description: "Pays.",
    inputSchema: { type: "object", properties: { amount: { type: "number" } } },
    run: async ({ amount }) => text(`paid ${amount as number}`),
  },
  {
    name: "fail",
    inputSchema: noArguments,
    run: async () => ({ ...text("no such city"), isError: true }),
  },
  {
    name: "crash",
    inputSchema: noArguments,
    run: async () => {
      throw new Error("the handler broke");
    },
  },
  {
    name: "kinds",
    inputSchema: noArguments,
    annotations: { idempotentHint: true },
    run: async () => ({
      content: [
        { type: "text", text: "a text" },
        { type: "image", data: PNG, mimeType: "image/png" },
        { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "note://1", mimeType: "text/plain", text: "hi" } },
        { type: "resource_link", uri: "note://2", name: "two", description: "the second note" },
        { type: "image", data: PNG.replaceAll(/.{20}/g, "$&\r\n"), mimeType: "image/png" },
        { type: "resource", resource: { uri: "plot://1", mimeType: "image/png", blob: PNG } },
        { type: "resource", resource: { uri: "zip://1", blob: "UEsDBA==" } },
      ],
    }),
  },
  {
    name: "structured",
    inputSchema: noArguments,
    run: async () => ({ content: [], structuredContent: { degrees: 21 } }),
  },
  {
    name: "slow",
    inputSchema: { type: "object", properties: { steps: { type: "integer" } } },
    run: async ({ steps }, access, seen) => {
      const total = Number(steps);
      for (let step = 1; step <= total; step++) {
        await access.progress(step, total, `step ${step}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        if (!access.signal.aborted) continue;
        seen.cancelled = true;
        break;
      }
      return text("slow is done");
    },
  },
  {
    name: "confirm",
    inputSchema: { type: "object", properties: { form: { type: "object" } } },
    run: async ({ form }, access) => {
      const answer = await access.ask("color", "elicitation/create", {
        message: "Which color?",
        requestedSchema: form ?? {
          type: "object",
          properties: { color: { type: "string", enum: ["red", "blue"] } },
          required: ["color"],
        },
      });
      return text(JSON.stringify(answer));
    },
  },
  {
    name: "summarize",
    inputSchema: noArguments,
    run: async (_, access) => {
      const answer = await access.ask("summary", "sampling/createMessage", {
        messages: [{ role: "user", content: { type: "text", text: "Summarize this." } }],
        maxTokens: 50,
      });
      return text(JSON.stringify(answer["content"]));
    },
  },
  {
    name: "where",
    inputSchema: noArguments,
    run: async (_, access) => text(JSON.stringify(await access.ask("roots", "roots/list", {}))),
  },
];

function described({ name, description, inputSchema, annotations }: TestTool): JsonObject {
  return {
    name,
    inputSchema,
    ...(description !== undefined && { description }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** The tools of a test server, and the calls it has seen. */
export class TestTools {
  readonly calls: SeenCall[] = [];
  /** Replaces the list of tools that the server shows. */
  list: JsonObject[] = TOOLS.map(described);
  lists = 0;

  listed(): { tools: never[] } {
    this.lists++;
    return { tools: this.list as never[] };
  }

  async call(name: string, args: JsonObject, access: ToolAccess): Promise<never> {
    const seen: SeenCall = { name, args, meta: access.meta, cancelled: false };
    this.calls.push(seen);
    const tool = TOOLS.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    return (await tool.run(args, access, seen)) as never;
  }
}
