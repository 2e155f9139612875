import type { ReadResourceResult, Resource, Server, Tool } from "@modelcontextprotocol/server";
import type { McpRequest } from "../session/services.ts";
import { canShowPages, PAGE } from "../session/session.ts";

/** The page that shows a run. Its script and its styles are in it, and it makes no requests. */
const RUN_VIEW = "ui://troupe/run.html";

/** The page needs no origin. Its buttons copy code. */
const META = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [] },
    permissions: { clipboardWrite: {} },
    prefersBorder: true,
  },
};

/** True if the client shows the page of a run, and the caller may read what it shows. */
export function showsRuns(
  { services, session, principal }: McpRequest,
  server: Pick<Server, "getClientCapabilities">,
): boolean {
  if (services.runView === undefined || !principal.scopes.includes("runs:read")) return false;
  return session?.pages ?? canShowPages(server.getClientCapabilities());
}

/** A tool that the client shows with the page of its run. */
export function withRunView(tool: Tool): Tool {
  return { ...tool, _meta: { ...tool._meta, ui: { resourceUri: RUN_VIEW } } };
}

export function runViewResource(): Resource {
  return {
    uri: RUN_VIEW,
    name: "run",
    title: "A run",
    description: "The page on which a person follows a run, answers its questions and stops it.",
    mimeType: PAGE,
    _meta: META,
  };
}

/** Undefined for other resources, and where the page is not served. */
export async function readRunView(
  { services }: McpRequest,
  uri: string,
): Promise<ReadResourceResult | undefined> {
  if (uri !== RUN_VIEW) return undefined;
  const text = await services.runView?.();
  return text === undefined
    ? undefined
    : { contents: [{ uri, mimeType: PAGE, text, _meta: META }] };
}
