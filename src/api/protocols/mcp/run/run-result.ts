import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { RunInfo } from "../../../../contract/run.ts";
import type { Problem } from "../../../../contract/problem.ts";
import type { ChatMessage } from "../../../../core/messages/message.ts";
import { toText } from "../../../../core/messages/views.ts";
import { isFile } from "../../../../core/models/attached-files.ts";
import { lastMessage } from "../../shared/run-messages.ts";
import { mediaTypeOf } from "../resources/message-parts.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import { fileContents } from "./file-contents.ts";
import { CONVERSATION_OF_RUN } from "./idempotency.ts";
import type { RunOutput } from "./output.ts";

/** A run as the result of a tool: what the team said, or what there is to do. */
export async function runResult(request: McpRequest, run: RunInfo): Promise<CallToolResult> {
  const team = teamOf(request, run.team_id);
  const isCompleted = run.status === "completed";
  const [said, files] = isCompleted
    ? await Promise.all([lastMessage(team, run), fileContents(request, team, run)])
    : [undefined, []];
  const output = outputOf(run, said);
  return {
    content: [
      { type: "text", text: textOf(output) },
      ...attachedTo(said),
      ...files,
      ...hintOf(request, output),
    ],
    structuredContent: { ...output },
    ...((run.status === "failed" || run.status === "cancelled") && { isError: true }),
  };
}

/** A run whose question was answered, for those who may not read what is said. */
export function answeredResult(run: RunInfo): CallToolResult {
  return {
    content: [{ type: "text", text: "The answer was given." }],
    structuredContent: { ...outputOf(run, undefined), stop_reason: null },
  };
}

/** A call that was refused. */
export function refusal({ detail, errors = [], ...problem }: Problem): CallToolResult {
  const places = errors.map(({ path, message }) => `\n- ${path}: ${message}`).join("");
  return {
    content: [{ type: "text", text: detail + places }],
    isError: true,
    _meta: { "troupe/problem": { ...problem.extra, code: problem.code, status: problem.status } },
  };
}

function outputOf(run: RunInfo, said: ChatMessage | undefined): RunOutput {
  const { [CONVERSATION_OF_RUN]: conversation } = run.metadata;
  return {
    team_id: run.team_id,
    run_id: run.id,
    ...(typeof conversation === "string" && { conversation }),
    status: run.status,
    text: said === undefined ? null : toText(said),
    stop_reason: run.stop_reason,
    error: run.error && { type: run.error.type, message: run.error.message },
    requests: run.requests.map(({ id, kind, source, prompt, code, tool_call, form }) => ({
      id,
      kind,
      source,
      prompt,
      ...(code !== undefined && { code }),
      ...(tool_call !== undefined && { tool_call }),
      ...(form !== undefined && { form }),
    })),
    usage: run.usage,
  };
}

function textOf(output: RunOutput): string {
  const { status, text, stop_reason, error, team_id, run_id, requests } = output;
  const runArguments = `team_id ${JSON.stringify(team_id)} and run_id ${JSON.stringify(run_id)}`;
  switch (status) {
    case "completed":
      return text ?? stop_reason ?? "The run is completed.";
    case "failed":
      return `The run failed: ${error?.message ?? "for an unknown reason"}`;
    case "cancelled":
      return "The run was cancelled.";
    case "waiting":
      return [
        `The run waits for a human. Ask the user, then call answer_request with ${runArguments} and:`,
        ...requests.map(({ id, kind, source, prompt, tool_call, code }) =>
          [
            `- request_id ${JSON.stringify(id)}, ${kind === "approval" ? '"approved": true or false' : '"content": the answer'}. ${source} asks: ${prompt}`,
            tool_call && `${tool_call.name}(${JSON.stringify(tool_call.arguments)})`,
            code,
          ]
            .filter((line) => line !== undefined)
            .join("\n"),
        ),
      ].join("\n");
    case "paused":
      return `The run is paused. Once it was resumed, call get_run with ${runArguments}.`;
    case "queued":
      return `The run is queued behind another one of the team. Call get_run with ${runArguments} to wait for it.`;
    case "running":
      return `The run is still active. Call get_run with ${runArguments} to wait for its end.`;
  }
}

/** The model has to name the conversation in its next call, unless its session does. */
function hintOf({ session }: McpRequest, { status, conversation }: RunOutput): ContentBlock[] {
  if (session !== undefined || conversation === undefined || status !== "completed") return [];
  const text = `To continue this conversation, pass "conversation": ${JSON.stringify(conversation)}.`;
  return [{ type: "text", text }];
}

/** Its images and files. */
function attachedTo(message: ChatMessage | undefined): ContentBlock[] {
  if (message?.type !== "MultiModalMessage") return [];
  return message.content.flatMap((part): ContentBlock[] => {
    if (typeof part === "string") return [];
    const { data } = part;
    const mimeType = mediaTypeOf(part);
    if (!isFile(part)) return [{ type: "image", data, mimeType }];
    const uri = `attachment:${encodeURIComponent(part.name)}`;
    return [{ type: "resource", resource: { uri, mimeType, blob: data } }];
  });
}
