import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { ID } from "../../../../contract/constants.ts";
import type { TeamInfo } from "../../../../contract/team.ts";
import { toText } from "../../../../core/messages/views.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { listsOf } from "../../../http/endpoint/services.ts";
import { type McpRequest, teamOf } from "../session/services.ts";

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain";
const URI = /^troupe:\/\/teams\/([^/?]+)\/(thread|transcript)(?:\?before=(\d{1,16}))?$/;

/** A page of the teams' threads. @throws ProblemError */
export async function listThreads(
  request: McpRequest,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const { services, principal, only } = request;
  if (only !== undefined) return { resources: [thread(only)] };
  const { teams, next_cursor } = unwrap(
    await listsOf(services, principal).teams({
      metadata: {},
      lasting: true,
      order: "newest",
      limit: Math.min(100, services.limits.max_page_size),
      ...(cursor !== undefined && { cursor }),
    }),
  );
  return {
    resources: teams.map(thread),
    ...(next_cursor !== null && { nextCursor: next_cursor }),
  };
}

function thread({
  id,
  label,
  updated_at,
}: Pick<TeamInfo, "id" | "label" | "updated_at">): Resource {
  return {
    uri: `troupe://teams/${id}/thread`,
    name: `thread_${id}`,
    title: label ?? id,
    description: "What was said in this team: the latest messages, oldest first.",
    mimeType: JSON_TYPE,
    annotations: { lastModified: updated_at },
  };
}

export function threadTemplates(team: string): ResourceTemplateType[] {
  return [
    {
      uriTemplate: `troupe://teams/${team}/thread{?before}`,
      name: "thread",
      title: "A team's thread",
      description: "Messages as JSON, oldest first; before: the next_before of a later page.",
      mimeType: JSON_TYPE,
    },
    {
      uriTemplate: `troupe://teams/${team}/transcript{?before}`,
      name: "transcript",
      title: "A team's thread as text",
      description: "Who said what, oldest first.",
      mimeType: TEXT_TYPE,
    },
  ];
}

/** The team whose thread a resource shows; undefined for other resources. */
export function threadOf({ only }: McpRequest, uri: string): string | undefined {
  const [, team = ""] = URI.exec(uri) ?? [];
  return ID.test(team) && (only === undefined || only.id === team) ? team : undefined;
}

/** A page of a thread; undefined when there is no such resource. @throws ProblemError */
export async function readThread(
  request: McpRequest,
  uri: string,
): Promise<ReadResourceResult | undefined> {
  const { services } = request;
  const team = threadOf(request, uri);
  if (team === undefined) return undefined;
  const [, , form, before] = URI.exec(uri) ?? [];
  const page = await teamOf(request, team).messages({
    before: before === undefined ? Number.MAX_SAFE_INTEGER : Number(before),
    limit: services.limits.max_page_size,
  });
  if (!page.ok && page.problem.status === 404) return undefined;
  const { messages, next_before } = unwrap(page);
  return form === "thread"
    ? { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify({ messages, next_before }) }] }
    : {
        contents: [
          {
            uri,
            mimeType: TEXT_TYPE,
            text: messages.map((one) => `${one.source}: ${toText(one)}`).join("\n\n"),
          },
        ],
      };
}
