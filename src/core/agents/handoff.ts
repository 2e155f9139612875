import * as z from "zod";
import { ValueError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import { isIdentifier } from "./identifier.ts";

const givenSchema = z.object({
  target: z.string(),
  description: z.string().nullish(),
  name: z
    .string()
    .refine((name) => name === "" || isIdentifier(name), "must be an identifier")
    .nullish(),
  message: z.string().nullish(),
});

/** A handoff as it is given: the target, and what differs from the defaults. */
export type HandoffOptions = z.input<typeof givenSchema>;

/** A handoff in component JSON; the name of the target alone will do. */
export const handoffConfigSchema = z.union([z.string(), givenSchema]);

/** Handing the conversation to another agent, which a model does by calling a tool (AutoGen `Handoff`). */
export interface Handoff {
  target: string;
  /** What the model is told about when to do it. */
  description: string;
  /** The tool's name. */
  name: string;
  /** What the target reads; also the tool's result. */
  message: string;
}

/**
 * A handoff with what is missing filled in. The target may be no identifier, and then neither is the default name.
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
