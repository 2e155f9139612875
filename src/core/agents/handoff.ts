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

/** Accepts a handoff or just the target's name, fills in what is missing. */
export const handoffSchema = z
  .union([z.string().transform((target) => ({ target })), givenSchema])
  .transform((given: HandoffOptions): Handoff => {
    const { target, description, name, message } = given;
    return {
      target,
      description: description || `Handoff to ${target}.`,
      name: name || `transfer_to_${target}`.toLowerCase(),
      message: message || `Transferred to ${target}, adopting the role of ${target} immediately.`,
    };
  });

/** A complete handoff. @throws ValueError when the tool's name is not an identifier */
export function createHandoff(given: string | HandoffOptions): Handoff {
  const { data, error } = handoffSchema.safeParse(given);
  if (data !== undefined) return data;
  const issues = issuesOf(error, "handoff");
  throw new ValueError(listIssues(issues), { issues });
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
