import * as z from "zod";
import { ValueError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import { isToolName } from "../tools/tool-name.ts";
import { isIdentifier } from "./identifier.ts";

/** The options of a handoff: its target and overrides of the defaults. */
export interface HandoffOptions {
  target: string;
  description?: string | null | undefined;
  /** An identifier. */
  name?: string | null | undefined;
  message?: string | null | undefined;
}

const givenSchema: z.ZodType<HandoffOptions> = z
  .object({
    target: z.string(),
    description: z.string().nullish(),
    name: z.string().nullish(),
    message: z.string().nullish(),
  })
  .refine(({ target, name }) => !name || isIdentifier(name) || name === defaultName(target), {
    path: ["name"],
    message: "must be an identifier",
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
    name: name || defaultName(target),
    message: message || `Transferred to ${target}, adopting the role of ${target} immediately.`,
  };
}

function defaultName(target: string): string {
  return `transfer_to_${target}`.toLowerCase();
}

/** The handoffs of an agent as its model is offered them. */
export interface OfferedHandoffs {
  /** By the name of the tool, and by the handoff's own name. */
  byName: ReadonlyMap<string, Handoff>;
  tools: readonly ToolSchema[];
}

/**
 * A handoff whose name makers of models do not take is offered as `transfer_to_2`, where 2 is its place in the list or a later
 * free number, with its target in the description.
 *
 * @param others the names of the agent's tools
 */
export function offerHandoffs(
  handoffs: readonly Handoff[],
  others: readonly string[],
): OfferedHandoffs {
  const taken = new Set([...others, ...handoffs.map(({ name }) => name)]);
  const byName = new Map(handoffs.map((handoff) => [handoff.name, handoff]));
  const tools = handoffs.map((handoff, index) => {
    const { name, description, target } = handoff;
    if (isToolName(name)) return handoffTool(name, description);
    let place = index + 1;
    while (taken.has(`transfer_to_${place}`)) place++;
    const fitted = `transfer_to_${place}`;
    taken.add(fitted);
    byName.set(fitted, handoff);
    const isNamed = description.includes(target);
    return handoffTool(fitted, isNamed ? description : `${description} (Handoff to ${target}.)`);
  });
  return { byName, tools };
}

/** Names that are equal and would be offered as they are. */
export function sameNames(handoffs: readonly Handoff[], others: readonly string[]): string[] {
  const names = [...others, ...handoffs.map(({ name }) => name).filter((name) => isToolName(name))];
  return names.filter((name, index) => names.indexOf(name) !== index);
}

/** The tool by which a model hands over. It takes no arguments. */
function handoffTool(name: string, description: string): ToolSchema {
  return {
    name,
    description,
    parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
    strict: true,
  };
}
