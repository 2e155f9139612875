import type { GetPromptResult, Prompt } from "@modelcontextprotocol/server";
import type { McpRequest } from "./services.ts";

/** The templates as prompts: a task, and the team that it is for. */
export async function listPrompts({ services }: McpRequest): Promise<Prompt[]> {
  return (await services.templates()).map(({ name, description }) => ({
    name,
    description,
    arguments: [{ name: "task", description: "What is to be done.", required: true }],
  }));
}

/** Undefined when there is no such template. */
export async function getPrompt(
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
