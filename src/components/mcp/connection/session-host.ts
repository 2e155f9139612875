import * as z from "zod";
import { componentModelSchema } from "../../../core/component/component-model.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  dumpComponent,
  withoutInnerNulls,
  withoutNulls,
} from "../../../core/component/component.ts";
import { ValueError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { TurnContext } from "../../../core/turn/turn-context.ts";
import type { Elicitor } from "../host/elicitor.ts";
import { McpError } from "../answers/mcp-error.ts";
import type { RootsProvider } from "../host/roots-provider.ts";
import type { Sampler } from "../host/sampler.ts";
import type { McpAnswering, McpServerQuestion } from "./server-question.ts";
import {
  anything,
  checkOptions,
  objectWith,
  type OptionsSchema,
} from "../../../core/options/options.ts";

const hostConfigSchema = z.object({
  sampler: componentModelSchema.nullish(),
  elicitor: componentModelSchema.nullish(),
  roots: componentModelSchema.nullish(),
});

export interface McpSessionHostOptions {
  sampler?: Sampler | undefined;
  elicitor?: Elicitor | undefined;
  roots?: RootsProvider | undefined;
}

const optionsSchema: OptionsSchema<McpSessionHostOptions> = z.object({
  sampler: objectWith(
    "a sampler, such as new ChatCompletionClientSampler(client)",
    "sample",
  ).optional(),
  elicitor: anything,
  roots: anything,
});

/** Answers a server's requests during a call (AutoGen `McpSessionHost`). */
export class McpSessionHost implements Component {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.tools.mcp.McpSessionHost",
    componentType: "mcp_session_host",
    role: "mcp_session_host",
    version: 1,
    configSchema: hostConfigSchema,
    fromConfig: ({ sampler, elicitor, roots }, loader) =>
      new McpSessionHost({
        sampler: sampler ? loader.load<Sampler>(sampler, "mcp_sampler", "sampler") : undefined,
        elicitor: elicitor
          ? loader.load<Elicitor>(elicitor, "mcp_elicitor", "elicitor")
          : undefined,
        roots: roots ? loader.load<RootsProvider>(roots, "mcp_roots_provider", "roots") : undefined,
      }),
  });

  readonly definition = McpSessionHost.component;
  /** The kinds of requests that this host answers. */
  readonly answering: McpAnswering;
  readonly #sampler: Sampler | undefined;
  readonly #elicitor: Elicitor | undefined;
  readonly #roots: RootsProvider | undefined;

  constructor(options: McpSessionHostOptions) {
    const { sampler, elicitor, roots } = checkOptions(optionsSchema, options, "McpSessionHost");
    this.#sampler = sampler;
    this.#elicitor = elicitor;
    this.#roots = roots;
    this.answering = {
      sampling: sampler !== undefined,
      elicitation: elicitor !== undefined,
      roots: roots && withoutInnerNulls({ roots: roots.listRoots() }),
    };
  }

  /** This host with a sampler. @throws ValueError if it has one already */
  withSampler(sampler: Sampler, field: string): McpSessionHost {
    if (this.#sampler !== undefined) {
      const message =
        "would answer the server's requests for text, as host.sampler does: leave one of them out";
      throw new ValueError(`${field} ${message}`, { issues: [{ path: field, message }] });
    }
    return new McpSessionHost({ sampler, elicitor: this.#elicitor, roots: this.#roots });
  }

  /**
   * @param source the name of the agent that made the call
   * @param ctx a scope of its own
   * @throws McpError when nothing here answers such a question, or the answer is refused
   */
  async answer(
    { method, params }: McpServerQuestion,
    source: string,
    ctx: TurnContext,
  ): Promise<JsonObject> {
    if (method === "sampling/createMessage" && this.#sampler !== undefined) {
      return this.#sampler.sample(params, source, ctx);
    }
    if (method === "elicitation/create" && this.#elicitor !== undefined) {
      return this.#elicitor.elicit(params, source, ctx);
    }
    if (method === "roots/list" && this.answering.roots !== undefined) {
      return this.answering.roots;
    }
    throw new McpError(
      "mcp_refused",
      `The server asks for "${method}", for which the host of the workbench has no component.`,
    );
  }

  toConfig(): JsonObject {
    const dump = (part: Component | undefined) => (part ? dumpComponent(part) : null);
    return withoutNulls({
      sampler: dump(this.#sampler),
      elicitor: dump(this.#elicitor),
      roots: dump(this.#roots),
    });
  }
}
