import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import type { McpRequest } from "../session/services.ts";
import { listParts, partTemplate, readPart } from "./message-parts.ts";
import { listThreads, readThread, threadTemplates } from "./threads.ts";
import { fileTemplate, readFile } from "./workspace-files.ts";

/**
 * A page of the resources: the threads of all teams, or the thread of one with the images and files of its latest messages.
 *
 * @throws ProblemError
 */
export async function listResources(
  request: McpRequest,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const page = await listThreads(request, cursor);
  if (request.only === undefined) return page;
  return { resources: [...page.resources, ...(await listParts(request, request.only.id))] };
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
    (await readThread(request, uri)) ??
    (await readPart(request, uri)) ??
    (await readFile(request, uri))
  );
}
