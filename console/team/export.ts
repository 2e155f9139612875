import type { Message, TeamClient } from "troupe/client";
import { saveFile } from "../parts/save-file.ts";

const PAGE = 200;

export const EXPORTS = {
  json: { name: "Messages as JSON", file: "json", make: messagesAsJson },
  markdown: { name: "Conversation as Markdown", file: "md", make: asMarkdown },
  state: { name: "State for AutoGen", file: "state.json", make: stateAsJson },
} as const;

export type ExportKind = keyof typeof EXPORTS;

/** Makes the browser save an export of the team. */
export async function exportTeam(team: TeamClient, kind: ExportKind): Promise<void> {
  const { file, make } = EXPORTS[kind];
  saveFile(`${team.id}.${file}`, new Blob([await make(team)]));
}

async function allMessages(team: TeamClient): Promise<Message[]> {
  const messages: Message[] = [];
  let after: number | null = 0;
  while (after !== null) {
    const page = await team.messages({ after, limit: PAGE });
    messages.push(...page.messages);
    after = page.next_after;
  }
  return messages;
}

async function messagesAsJson(team: TeamClient): Promise<string> {
  return JSON.stringify(await allMessages(team), null, 2);
}

async function stateAsJson(team: TeamClient): Promise<string> {
  return JSON.stringify(await team.saveState(), null, 2);
}

async function asMarkdown(team: TeamClient): Promise<string> {
  const sections = (await allMessages(team)).flatMap((message) => {
    const text = textOf(message);
    return text === undefined ? [] : [`## ${message.source}\n\n${text}\n`];
  });
  return sections.join("\n");
}

/** The text of a message; undefined for events. */
function textOf(message: Message): string | undefined {
  switch (message.type) {
    case "TextMessage":
    case "StopMessage":
    case "ToolCallSummaryMessage":
    case "HandoffMessage":
      return message.content;
    case "MultiModalMessage":
      return message.content
        .map((part) =>
          typeof part === "string"
            ? part
            : "media_type" in part
              ? `(file ${part.name})`
              : "(image)",
        )
        .join("\n\n");
    default:
      return message.type.endsWith("Event")
        ? undefined
        : `\`\`\`json\n${JSON.stringify((message as { content?: unknown }).content, null, 2)}\n\`\`\``;
  }
}
