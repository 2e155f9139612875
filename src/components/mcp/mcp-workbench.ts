import type * as z from "zod";
import {
  type ComponentDefinition,
  dumpComponent,
  type Note,
  withoutInnerNulls,
  withoutNulls,
} from "../../core/component/component.ts";
import { inConfig } from "../../core/component/refused-where-new.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { optionsOf, parseOptions } from "../../core/options/option-names.ts";
import type { Message } from "../../core/messages/message.ts";
import type { ChatCompletionClient, ToolSchema } from "../../core/models/chat-completion-client.ts";
import {
  type HumanApproval,
  humanApproval,
  humanApprovalConfig,
} from "../../core/turn/human-approval.ts";
import type { TurnContext } from "../../core/turn/turn-context.ts";
import type { StateParts } from "../../core/state/stateful.ts";
import { parseState, stateSchemaOf } from "../../core/state/load-state.ts";
import { approvedCall } from "../../core/tools/approved-call.ts";
import { sequenceOf } from "../../core/tools/sequence.ts";
import type { ToolCallContext, ToolResult } from "../../core/tools/tool.ts";
import { textResult } from "../../core/tools/tool-result.ts";
import type { Workbench } from "../../core/tools/workbench.ts";
import { headerNotes } from "../../outgoing/headers.ts";
import { SandboxClient } from "../sandbox/client/sandbox-client.ts";
import { type McpServerConfig, mcpServerParamsSchema } from "./connection/server-params.ts";
import { type ReadingKind, readingTools } from "./reading-tools.ts";
import { LegacyQuestions } from "./connection/legacy-questions.ts";
import type { McpSession } from "./connection/session.ts";
import { McpSessions } from "./connection/sessions.ts";
import type { McpAnswering } from "./connection/server-question.ts";
import { McpSessionHost } from "./connection/session-host.ts";
import { ChatCompletionClientSampler } from "./host/sampler.ts";
import { LoginQuestions } from "./login/login-questions.ts";
import { McpCalls } from "./calls.ts";
import {
  checkOverrides,
  identityOf,
  type McpTool,
  type ShownTool,
  shownTools,
} from "./tool-list.ts";
import { checkServerParams, serverParamsMistakes } from "./connection/transport.ts";
import type { McpDependencies } from "./connection/dependencies.ts";
import type { SkillSource } from "../../core/skills/skill-source.ts";
import { SkillResources } from "./skill-resources.ts";
import { fetchTools } from "./fetch-tools.ts";
import {
  definition,
  type McpWorkbenchOptions,
  workbenchConfigSchema,
  workbenchOptionsSchema,
} from "./workbench-config.ts";
import { checkOptions } from "../../core/options/options.ts";

/** The number of times that a tool may change between the approval and the call before the call is given up. */
const MAX_CHANGES = 3;

/**
 * The tools of an MCP server (AutoGen `McpWorkbench`).
 *
 * @throws ValueError that names the field of the parameters or options that cannot be used
 * @example
 * const docs = new McpWorkbench({
 *   serverParams: {
 *     type: "StreamableHttpServerParams",
 *     url: "https://mcp.example.com/mcp",
 *     headers: { authorization: "Bearer env:DOCS_TOKEN" },
 *   },
 * });
 * const agent = new AssistantAgent({ name: "reader", modelClient, workbench: docs });
 */
export class McpWorkbench implements Workbench {
  /** @internal */
  static readonly component = mcpWorkbenchDefinition;
  readonly definition: Workbench["definition"] = definition;
  readonly #params: McpServerConfig;
  readonly #overrides: NonNullable<McpWorkbenchOptions["toolOverrides"]>;
  readonly #toolsFor: readonly ReadingKind[];
  readonly #host: McpSessionHost | undefined;
  readonly #modelClient: ChatCompletionClient | undefined;
  /** The common answers of the host and the model client. */
  readonly #answering: McpAnswering | undefined;
  readonly #approval: HumanApproval | null;
  /** Approval timeouts in seconds, by tool. */
  readonly #approvalTimeout: number | null;
  readonly #sessions: McpSessions;
  readonly #calls: McpCalls;
  /** The tools of the last listing in each session. */
  readonly #tools = new WeakMap<McpSession, Map<string, ShownTool>>();

  constructor(options: McpWorkbenchOptions, dependencies: McpDependencies = {}) {
    const checked = checkOptions(workbenchOptionsSchema, options, "McpWorkbench");
    const { serverParams, toolOverrides = {}, toolsFor = [], host, modelClient } = checked;
    const { approval, approvalTimeoutSeconds = null } = checked;
    const params = parseOptions(
      mcpServerParamsSchema,
      serverParams,
      "McpWorkbench",
      "serverParams",
    );
    checkServerParams(params, dependencies);
    checkOverrides(toolOverrides);
    const approvals = [approval, ...Object.values(toolOverrides).map((each) => each.approval)];
    for (const each of approvals) if (each != null) humanApproval(each, approvalTimeoutSeconds);
    if (approvals.every((each) => each == null)) humanApproval(null, approvalTimeoutSeconds);
    this.#params = params;
    this.#overrides = toolOverrides;
    this.#toolsFor = toolsFor;
    this.#host = host;
    this.#modelClient = modelClient;
    this.#approval = approval == null ? null : humanApproval(approval, approvalTimeoutSeconds);
    this.#approvalTimeout = approvalTimeoutSeconds;
    const answers = hostOf(host, modelClient);
    this.#answering = answers?.answering;
    const questions = answers && new LegacyQuestions(answers.answering);
    this.#sessions = new McpSessions(params, dependencies, questions);
    this.#calls = new McpCalls(this.#sessions, questions, answers);
  }

  /** A step: a repeated turn sees the same tools. */
  async listTools({ ctx }: Pick<ToolCallContext, "ctx">): Promise<ToolSchema[]> {
    const tools = await this.#list(ctx);
    return [...tools.values()].map(({ schema }) => schema);
  }

  async *callTool(
    name: string,
    args: JsonObject,
    call: ToolCallContext,
  ): AsyncGenerator<Message, ToolResult, void> {
    const found = await this.#find(name, call.ctx);
    if (found === undefined) return textResult(name, `Tool ${name} not found.`, true);
    const approval = this.#approvalOf(found.tool);
    return yield* approval === null
      ? this.#inLine(() => this.#calls.run(found.tool, name, args, call), call)
      : this.#approved(found, { approval, name, args, call }, 0);
  }

  /** The resources of the server. A step; `ctx` is a scope of its own. */
  listResources({ ctx }: Pick<ToolCallContext, "ctx">): Promise<Json> {
    return this.#ask(
      ctx,
      (client, options) => client.listResources(undefined, options),
      "resources/list",
    );
  }

  /** The templates for addresses of resources. A step; `ctx` is a scope of its own. */
  listResourceTemplates({ ctx }: Pick<ToolCallContext, "ctx">): Promise<Json> {
    return this.#ask(
      ctx,
      (client, options) => client.listResourceTemplates(undefined, options),
      "resources/templates/list",
    );
  }

  /** The contents of a resource. A step; `ctx` is a scope of its own. */
  readResource(uri: string, { ctx }: Pick<ToolCallContext, "ctx">): Promise<Json> {
    return this.#ask(ctx, (client, options) => client.readResource({ uri }, options));
  }

  /** The prompts of the server. A step; `ctx` is a scope of its own. */
  listPrompts({ ctx }: Pick<ToolCallContext, "ctx">): Promise<Json> {
    return this.#ask(
      ctx,
      (client, options) => client.listPrompts(undefined, options),
      "prompts/list",
    );
  }

  /** A prompt with its arguments filled in. A step; `ctx` is a scope of its own. */
  getPrompt(
    name: string,
    args: { [name: string]: string },
    { ctx }: Pick<ToolCallContext, "ctx">,
  ): Promise<Json> {
    return this.#ask(ctx, (client, options) =>
      client.getPrompt({ name, arguments: args }, options),
    );
  }

  /** The resources of the server with addresses of the scheme `skill`. */
  skills(ctx: TurnContext): SkillSource {
    return new SkillResources(this, ctx);
  }

  reset(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }

  saveState(): JsonObject {
    return { type: "McpWorkBenchState" };
  }

  loadState(state: JsonObject): void {
    parseState(stateSchemaOf("McpWorkBenchState"), state, "a workbench's state");
  }

  stateParts(): StateParts {
    return { children: {} };
  }

  toConfig(): JsonObject {
    return withoutNulls({
      server_params: withoutInnerNulls(this.#params),
      tool_overrides: mapValues(this.#overrides, (override) => withoutNulls({ ...override })),
      host: this.#host ? dumpComponent(this.#host) : null,
      model_client: this.#modelClient ? dumpComponent(this.#modelClient) : null,
      tools_for: this.#toolsFor.length > 0 ? [...this.#toolsFor] : null,
      ...humanApprovalConfig(this.#approval),
      approval_timeout_seconds: this.#approvalTimeout,
    });
  }

  /** A step. A tool of the server takes precedence over a reading tool. */
  async #listed(ctx: TurnContext): Promise<Map<string, ShownTool>> {
    const session = this.#sessions.of(ctx.run);
    const logins = new LoginQuestions(ctx, session.server);
    const tools = await logins.step("list", this.#sessions.retry, async (use) => {
      const listed = await fetchTools(session, use);
      noteLeftOut(session, "tools/list", ctx);
      return listed;
    });
    return shownTools([...tools, ...readingTools(this.#toolsFor)], this.#overrides);
  }

  async #list(ctx: TurnContext): Promise<Map<string, ShownTool>> {
    const tools = await this.#listed(ctx);
    this.#tools.set(this.#sessions.of(ctx.run), tools);
    return tools;
  }

  async #find(name: string, ctx: TurnContext): Promise<ShownTool | undefined> {
    const listed = this.#tools.get(this.#sessions.of(ctx.run));
    return (listed ?? (await this.#list(ctx.scope("tools")))).get(name);
  }

  /** An approval of the tool replaces that of the workbench. */
  #approvalOf({ name }: McpTool): HumanApproval | null {
    const override = Object.hasOwn(this.#overrides, name) ? this.#overrides[name] : undefined;
    return override?.approval == null
      ? this.#approval
      : humanApproval(override.approval, this.#approvalTimeout);
  }

  /** If the server may ask, calls run one after the other, because its questions do not name the call. */
  #inLine(
    run: () => AsyncGenerator<Message, ToolResult, void>,
    { ctx }: ToolCallContext,
  ): AsyncGenerator<Message, ToolResult, void> {
    const { sampling = false, elicitation = false } = this.#answering ?? {};
    return sampling || elicitation ? sequenceOf(this).run(run, ctx.signal) : run();
  }

  /** Asks a human, and asks again when the tool is no longer the approved one. */
  #approved(
    shown: ShownTool,
    pending: { approval: HumanApproval; name: string; args: JsonObject; call: ToolCallContext },
    changes: number,
  ): AsyncGenerator<Message, ToolResult, void> {
    const { name, call } = pending;
    const run = async function* (this: McpWorkbench, args: JsonObject) {
      const now = (await this.#listed(call.ctx.scope(`approved:${changes}`))).get(name);
      if (now === undefined) {
        return textResult(name, `The tool ${name} no longer exists at its server.`, true);
      }
      if (identityOf(now.tool) === identityOf(shown.tool)) {
        return yield* this.#calls.run(shown.tool, name, args, call);
      }
      if (changes === MAX_CHANGES) {
        const message = `The call was not made: the server changes the tool ${name} again and again.`;
        return textResult(name, message, true);
      }
      return yield* this.#approved(now, { ...pending, args }, changes + 1);
    }.bind(this);
    return approvedCall(
      {
        ...pending,
        tool: shown,
        component: [this.#params, shown.tool, pending.approval],
        ...(changes > 0 && {
          notice: "The server has changed the tool since the call was approved.",
        }),
      },
      run,
      // The question about a changed tool is asked while the call holds its place in the sequence.
      (calling) => (changes === 0 ? this.#inLine(calling, call) : calling()),
    );
  }

  /** @param list the method, if the answer is a list */
  #ask(ctx: TurnContext, request: Request, list?: string): Promise<Json> {
    const session = this.#sessions.of(ctx.run);
    return new LoginQuestions(ctx, session.server).step("request", this.#sessions.retry, (use) =>
      session.use(use, async (client, timeout) => {
        const answer = await request(client, { signal: use.signal, timeout });
        if (list !== undefined) noteLeftOut(session, list, ctx);
        const text = session.redact(JSON.stringify(answer));
        return JSON.parse(text) as Json;
      }),
    );
  }
}

/** Without the nulls of an override; those in the conditions of its rule stay. */
function mapValues<T>(values: { readonly [key: string]: T }, map: (value: T) => JsonObject) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

function noteLeftOut(session: McpSession, method: string, ctx: TurnContext): void {
  const note = session.leftOut(method);
  if (note !== undefined) ctx.note(note);
}

function hostOf(
  host: McpSessionHost | undefined,
  modelClient: ChatCompletionClient | undefined,
): McpSessionHost | undefined {
  if (modelClient === undefined) return host;
  const sampler = new ChatCompletionClientSampler(modelClient);
  return (host ?? new McpSessionHost({})).withSampler(sampler, "model_client");
}

type Client = Parameters<Parameters<McpSession["use"]>[1]>[0];
type Request = (
  client: Client,
  options: { signal: AbortSignal; timeout: number },
) => Promise<object>;

/** The component definition, with what its host provides. */
function mcpWorkbenchDefinition(
  dependencies: McpDependencies,
): ComponentDefinition<z.output<typeof workbenchConfigSchema>, McpWorkbench> {
  const askSandbox = async (items: unknown[]): Promise<boolean[]> => {
    const lacks = await lacksPrograms(dependencies.sandbox);
    return items.map(() => lacks);
  };
  return {
    ...definition,
    configSchema: workbenchConfigSchema,
    refusals: ({ server_params: params }) => inConfig(serverParamsMistakes(params)),
    async prepare(
      { server_params: { type }, troupe },
      preparation,
    ): Promise<JsonObject | undefined> {
      if (type !== "StdioServerParams" || dependencies.sandbox === undefined) return undefined;
      const lacks = await preparation.together(askSandbox, undefined);
      if (lacks) return { programs: "not_available" };
      // Earlier findings are outdated.
      return troupe === undefined ? undefined : {};
    },
    notes: ({ troupe, server_params: params }) => [
      ...(troupe?.programs === undefined ? [] : [NO_PROGRAMS]),
      ...(params.type === "StdioServerParams"
        ? []
        : headerNotes(params.headers, params.url, dependencies, "config.server_params.headers")),
    ],
    fromConfig: ({ server_params, tool_overrides, host, model_client, ...config }, loader) =>
      new McpWorkbench(
        {
          serverParams: optionsOf(mcpServerParamsSchema, server_params),
          toolOverrides: tool_overrides,
          toolsFor: config.tools_for ?? [],
          host: host ? loader.load<McpSessionHost>(host, "mcp_session_host", "host") : undefined,
          modelClient: model_client
            ? loader.load<ChatCompletionClient>(model_client, "model", "model_client")
            : undefined,
          approval: config.approval ?? undefined,
          approvalTimeoutSeconds: config.approval_timeout_seconds ?? null,
        },
        dependencies,
      ),
  };
}

/** The time limit for a sandbox in this check; without an answer its note is left out. */
const ASK_MS = 3_000;

const NO_PROGRAMS: Note = {
  path: "config.server_params.command",
  message:
    "is a program, and the sandbox of this server starts none: run the sandbox with SANDBOX_ISOLATION=process in a container, or with SANDBOX_MCP=1 on a machine whose programs component JSON may start",
};

async function lacksPrograms(sandbox: McpDependencies["sandbox"]): Promise<boolean> {
  if (sandbox === undefined) return false;
  try {
    const starts = await new SandboxClient(sandbox).startsPrograms(AbortSignal.timeout(ASK_MS));
    return starts === false;
  } catch {
    // The first listing will report the error.
    return false;
  }
}
