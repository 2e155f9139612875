import * as z from "zod";
import { componentModelSchema } from "../../core/component/component-model.ts";
import type { ChatCompletionClient } from "../../core/models/chat-completion-client.ts";
import { type Approval, approvalSchema } from "../../core/rules/approval-rule.ts";
import { humanApprovalSchema } from "../../core/turn/human-approval.ts";
import type { McpSessionHost } from "./connection/session-host.ts";
import { mcpServerParamsSchema, type McpServerParams } from "./connection/server-params.ts";
import {
  aModelClient,
  aNumber,
  anything,
  objectWith,
  type OptionsSchema,
} from "../../core/options/options.ts";

/** The workbench's name in component JSON. */
export const definition = {
  provider: "autogen_ext.tools.mcp.McpWorkbench",
  componentType: "workbench",
  role: "workbench",
  version: 1,
} as const;

const overrideSchema = z.object({
  name: z.string().nullish(),
  description: z.string().nullish(),
  approval: approvalSchema.nullish(),
});

/** The config of the component. */
export const workbenchConfigSchema = z
  .object({
    server_params: mcpServerParamsSchema,
    tool_overrides: z.record(z.string(), overrideSchema).default({}),
    host: componentModelSchema.nullish(),
    /** Answers the server's requests for text, as the sampler of a host does. */
    model_client: componentModelSchema.nullish(),
    /** Other parts of the server that become tools. */
    tools_for: z.array(z.enum(["resources", "prompts"])).nullish(),
    /** Findings from when the component arrived. */
    troupe: z.object({ programs: z.literal("not_available").optional() }).optional(),
  })
  .extend(humanApprovalSchema.shape);

/** Overrides the server's description of a tool. */
export interface McpToolOverride {
  name?: string | null | undefined;
  description?: string | null | undefined;
  /** The calls of this tool that a human has to approve, in place of those of the workbench. */
  approval?: Approval | null | undefined;
}

export interface McpWorkbenchOptions {
  /** The parameters of the server. */
  serverParams: McpServerParams;
  /** Names, descriptions and approval by the tools' own names. */
  toolOverrides?: { readonly [toolName: string]: McpToolOverride } | undefined;
  /** Adds tools that list and read the server's resources, or its prompts. Default: none. */
  toolsFor?: readonly ("resources" | "prompts")[] | undefined;
  /** Answers the server's requests during a call. */
  host?: McpSessionHost | undefined;
  /**
   * Answers the server's requests for text from a model, after a human has approved each. Short for a host with a
   * `ChatCompletionClientSampler`, which has options for that.
   */
  modelClient?: ChatCompletionClient | undefined;
  /** The calls of any tool that a human has to approve. */
  approval?: Approval | undefined;
  /** Seconds after which an unanswered approval counts as refused. Default: no limit. */
  approvalTimeoutSeconds?: number | null | undefined;
}

export const workbenchOptionsSchema: OptionsSchema<McpWorkbenchOptions> = z.object({
  serverParams: anything,
  toolOverrides: z.record(z.string(), z.strictObject(overrideSchema.shape)).optional(),
  toolsFor: z.array(z.enum(["resources", "prompts"])).optional(),
  host: objectWith("an McpSessionHost", "toConfig").optional(),
  modelClient: aModelClient.optional(),
  approval: approvalSchema.optional(),
  approvalTimeoutSeconds: aNumber.nullish(),
});
