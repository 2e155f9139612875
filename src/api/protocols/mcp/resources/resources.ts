import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { readRunView, runViewResource } from "../app/run-view.ts";
import type { McpRequest } from "../session/services.ts";
import { listParts, partTemplate, readPart } from "./message-parts.ts";
import { listThreads, readThread, threadTemplates } from "./threads.ts";
import { fileTemplate, readFile } from "./workspace-files.ts";

/**
 * A page of the resources: the threads of all teams, or the thread of one with the images and files of its latest messages.
 *
 * @param pages whether the client shows pages, of which the first one is
 * @throws ProblemError
 */
export async function listResources(
  request: McpRequest,
  { cursor, pages }: { cursor: string | undefined; pages: boolean },
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const { resources, ...next } = await listThreads(request, cursor);
  const view = pages && cursor === undefined ? [runViewResource()] : [];
  const parts = request.only === undefined ? [] : await listParts(request, request.only.id);
  return { resources: [...view, ...resources, ...parts], ...next };
}

export function resourceTemplates({ only, services }: McpRequest): ResourceTemplateType[] {
  const team = only?.id ?? "{team}";
  return [
    ...threadTemplates(team),
    partTemplate(team),
    ...(services.files === undefined ? [] : [fileTemplate(team)]),
  ];
}

/** Undefined when there is no such resource. @throws ProblemError */
export async function readResource(
  request: McpRequest,
  uri: string,
): Promise<ReadResourceResult | undefined> {
  return (
    (await readRunView(request, uri)) ??
    (await readThread(request, uri)) ??
    (await readPart(request, uri)) ??
    (await readFile(request, uri))
  );
}
