import * as z from "zod";
import { ValueError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import { isIdentifier } from "./identifier.ts";

/** The options of a handoff: its target and overrides of the defaults. */
export interface HandoffOptions {
  target: string;
  description?: string | null | undefined;
  /** An identifier. */
  name?: string | null | undefined;
  message?: string | null | undefined;
}

const givenSchema: z.ZodType<HandoffOptions> = z.object({
  target: z.string(),
  description: z.string().nullish(),
  name: z
    .string()
    .refine((name) => name === "" || isIdentifier(name), "must be an identifier")
    .nullish(),
  message: z.string().nullish(),
});

/** A handoff in component JSON; or just the target's name. */
export const handoffConfigSchema = z.union([z.string(), givenSchema]);

/** Handing the conversation to another agent, which a model does by calling a tool (AutoGen `Handoff`). */
export interface Handoff {
  target: string;
  /** The tool description, which says to the model when to hand over. */
  description: string;
  /** The tool's name. */
  name: string;
  /** The message to the target; also the tool's result. */
  message: string;
}

/**
 * Fills in the defaults of a handoff. A target that is not an identifier makes a default name that is not one either.
 *
 * @throws ValueError when a given name is not an identifier
 */
export function createHandoff(given: string | HandoffOptions): Handoff {
  const { data, error } = handoffConfigSchema.safeParse(given);
  if (data === undefined) {
    const issues = issuesOf(error, "handoff");
    throw new ValueError(listIssues(issues), { issues });
  }
  const options: HandoffOptions = typeof data === "string" ? { target: data } : data;
  const { target, description, name, message } = options;
  return {
    target,
    description: description || `Handoff to ${target}.`,
    name: name || `transfer_to_${target}`.toLowerCase(),
    message: message || `Transferred to ${target}, adopting the role of ${target} immediately.`,
  };
}

/** The tool by which a model hands over. It takes no arguments. */
export function handoffTool(handoff: Handoff): ToolSchema {
  return {
    name: handoff.name,
    description: handoff.description,
    parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
    strict: true,
  };
}
