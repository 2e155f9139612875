import { beginningOf } from "../../../core/cut.ts";
import type {
  CallToolResult,
  GetPromptResult,
  JSONRPCRequest,
  Prompt,
  Result,
  ServerContext,
} from "@modelcontextprotocol/server";
import {
  INTERNAL_PROBLEM,
  internalErrorLine,
  type ProblemError,
  problemOf,
} from "../../http/endpoint/problem.ts";
import { showsRuns } from "./app/run-view.ts";
import { callTool } from "./tools/call-tool.ts";
import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "./session/sdk.ts";
import { type McpRequest, teamOf } from "./session/services.ts";
import { setLevel, subscribe } from "./session/session-settings.ts";
import { takesTasks, TASKS } from "./run/task.ts";
import { requireTasks, TASK_METHODS, TASK_SCHEMAS } from "./tasks.ts";
import { complete } from "./resources/completion.ts";
import { listResources, readResource, resourceTemplates } from "./resources/resources.ts";
import { threadOf } from "./resources/threads.ts";
import { invalidParamsText, issuesIn } from "./invalid-messages.ts";
import { listTools } from "./tools/list-tools.ts";

/** Answers one message, or a batch of them, with a server of its own. */
export async function serve(
  about: McpRequest,
  request: Request,
  parsedBody: unknown,
): Promise<Response> {
  let failure: Error | undefined;
  const handler = createMcpHandler(({ era }) => mcpServer(about, era === "modern"), {
    // This request's. The SDK acknowledges it; listen/listen.ts does the rest.
    maxSubscriptions: 1,
    // It is called for mistakes of clients, too.
    onerror: (error) => (failure = error),
  });
  const response = await handler.fetch(request, { parsedBody });
  if (response.status >= 500) about.services.log(internalErrorLine(failure));
  return response;
}

/** @param isModern whether the revision of the protocol has no sessions, but subscriptions and the tasks extension */
function mcpServer(request: McpRequest, isModern: boolean): Server {
  const { services, only } = request;
  const title = only === undefined ? "Troupe" : (only.label ?? only.id);
  const server = new TeamServer(
    { name: "troupe", title, version: services.version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        completions: {},
        ...(only === undefined && { prompts: {} }),
        ...(isModern && { extensions: { [TASKS]: {} } }),
      },
      instructions: INSTRUCTIONS,
      // Forms of the revisions with sessions are sent and answered without it.
      inputRequired: { legacyShim: false },
    },
  );

  /** Errors as the protocol shows them: what was refused with its problem, the rest without details. */
  const guarded =
    <P, R>(handle: (message: P, ctx: ServerContext) => R | Promise<R>) =>
    async (message: P, ctx: ServerContext): Promise<R> => {
      try {
        return await handle(message, ctx);
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        const refused = problemOf(error);
        if (refused === undefined) services.log(internalErrorLine(error));
        throw protocolError(refused);
      }
    };

  server.setRequestHandler(
    "tools/list",
    guarded(({ params }) =>
      listTools(request, {
        cursor: params?.cursor,
        tasks: takesTasks(server),
        pages: showsRuns(request, server),
      }),
    ),
  );
  server.setRequestHandler(
    "tools/call",
    guarded((message, ctx) => callTool(request, message, ctx, server) as Promise<CallToolResult>),
  );
  server.setRequestHandler(
    "resources/list",
    guarded(({ params }) =>
      listResources(request, { cursor: params?.cursor, pages: showsRuns(request, server) }),
    ),
  );
  server.setRequestHandler(
    "resources/templates/list",
    guarded(() => ({ resourceTemplates: resourceTemplates(request) })),
  );
  server.setRequestHandler(
    "resources/read",
    guarded(async ({ params: { uri } }) => {
      const read = await readResource(request, uri);
      if (read === undefined) throw new ResourceNotFoundError(uri);
      return read;
    }),
  );
  server.setRequestHandler(
    "completion/complete",
    guarded(({ params }) => complete(request, params)),
  );
  if (!isModern) {
    server.setRequestHandler(
      "logging/setLevel",
      guarded(async ({ params }) => {
        await setLevel(request, params.level);
        return {};
      }),
    );
    for (const method of ["resources/subscribe", "resources/unsubscribe"] as const) {
      server.setRequestHandler(
        method,
        guarded(async ({ params: { uri } }) => {
          const isOn = method === "resources/subscribe";
          const team = threadOf(request, uri);
          if (isOn && (team === undefined || !(await teamOf(request, team).team()).ok))
            throw new ResourceNotFoundError(uri);
          await subscribe(request, uri, isOn);
          return {};
        }),
      );
    }
  }
  for (const [method, handle] of isModern ? Object.entries(TASK_METHODS) : []) {
    server.setRequestHandler(
      method,
      TASK_SCHEMAS,
      guarded(({ taskId }, ctx) => {
        requireTasks(server);
        return handle(request, taskId, { ctx, server });
      }),
    );
  }
  if (only === undefined) {
    server.setRequestHandler(
      "prompts/list",
      guarded(async () => ({ prompts: await listPrompts(request) })),
    );
    server.setRequestHandler(
      "prompts/get",
      guarded(async ({ params }) => {
        const prompt = await getPrompt(request, params.name, params.arguments);
        if (prompt !== undefined) return prompt;
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `There is no prompt ${JSON.stringify(beginningOf(params.name, 100))}; prompts/list lists all.`,
        );
      }),
    );
  }
  return server;
}

const INSTRUCTIONS =
  "Each run_ tool gives a task to a team of AI agents; list_teams says which teams and templates there are. A result may say that the run is still active or waits for a human: then continue with get_run or answer_request. Ask the user before you answer a request.";

function protocolError(refused: ProblemError | undefined): Error {
  const { detail, status, code, errors = [] } = refused?.problem ?? INTERNAL_PROBLEM;
  const rpc = status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(rpc, detail, { status, code, ...(errors.length > 0 && { errors }) });
}

/** The templates as prompts: a task, and the team that it is for. */
async function listPrompts({ services }: McpRequest): Promise<Prompt[]> {
  return (await services.templates()).map(({ name, description }) => ({
    name,
    description,
    arguments: [{ name: "task", description: "What is to be done.", required: true }],
  }));
}

/** Undefined when there is no such template. */
async function getPrompt(
  { services }: McpRequest,
  name: string,
  { task = "" }: Record<string, string> = {},
): Promise<GetPromptResult | undefined> {
  const template = (await services.templates()).find((one) => one.name === name);
  if (template === undefined) return undefined;
  const { description, component } = template;
  const text = `${task}\n\nWork on this like the team in the attached component: ${description}`;
  const uri = `troupe://templates/${name}`;
  const resource = { uri, mimeType: "application/json", text: JSON.stringify(component) };
  return {
    description,
    messages: [
      { role: "user", content: { type: "text", text: text.trim() } },
      { role: "user", content: { type: "resource", resource } },
    ],
  };
}

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

/** Takes a task past the SDK, which does not know that a tool may give one. */
class TaskCreated extends Error {
  readonly task: Result;

  constructor(task: Result) {
    super("The call is answered with a task.");
    this.task = task;
  }
}

/** The SDK's server, whose tools may also give tasks, and whose errors name the parameters that are invalid. */
export class TeamServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    if (method !== "tools/call") return namingParams(super._wrapHandler(method, handler));
    const checked = super._wrapHandler(method, async (request, ctx) => {
      const result = await handler(request, ctx);
      if (result.resultType === "task") throw new TaskCreated(result);
      return result;
    });
    return namingParams((request, ctx) =>
      checked(request, ctx).catch((error: unknown) => {
        if (error instanceof TaskCreated) return error.task;
        throw error;
      }),
    );
  }
}

/** The SDK throws what is wrong with parameters as an error of no kind, or with its issues as JSON in the text. */
function namingParams(handler: Handler): Handler {
  return async (request, ctx) => {
    try {
      return await handler(request, ctx);
    } catch (error) {
      const issues = error instanceof Error ? issuesIn(error) : [];
      if (issues.length === 0) throw error;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, invalidParamsText(issues));
    }
  };
}
