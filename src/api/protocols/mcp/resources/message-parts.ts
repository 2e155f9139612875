import type {
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { ID } from "../../../../contract/constants.ts";
import type { Message } from "../../../../core/messages/message.ts";
import { isFile } from "../../../../core/models/attached-files.ts";
import { imageMediaType } from "../../../../core/models/images.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { type McpRequest, teamOf } from "../session/services.ts";

const URI = /^troupe:\/\/teams\/([^/?]+)\/messages\/(\d{1,15})\/parts\/(\d{1,6})$/;

type Part = Extract<Message, { type: "MultiModalMessage" }>["content"][number];

export function partTemplate(team: string): ResourceTemplateType {
  return {
    uriTemplate: `troupe://teams/${team}/messages/{seq}/parts/{part}`,
    name: "message_part",
    title: "A part of a message",
    description:
      "An image, a file or a text of a message with several parts. seq: the number of the message in the thread; part: the place in its content, from 0.",
  };
}

/** The images and files of a team's latest messages. @throws ProblemError */
export async function listParts(request: McpRequest, team: string): Promise<Resource[]> {
  const { messages } = unwrap(
    await teamOf(request, team).messages({
      before: Number.MAX_SAFE_INTEGER,
      limit: request.services.limits.max_page_size,
    }),
  );
  return messages.flatMap((message) =>
    partsOf(message).flatMap((part, index) =>
      typeof part === "string"
        ? []
        : [
            {
              uri: `troupe://teams/${team}/messages/${message.seq}/parts/${index}`,
              name: isFile(part) ? part.name : `image_${message.seq}_${index}`,
              description: `Sent by ${message.source}.`,
              mimeType: mediaTypeOf(part),
            },
          ],
    ),
  );
}

/** A part of a message; undefined when there is no such resource. @throws ProblemError */
export async function readPart(
  request: McpRequest,
  uri: string,
): Promise<ReadResourceResult | undefined> {
  const [, team = "", seq = "", index = ""] = URI.exec(uri) ?? [];
  if (!ID.test(team) || (request.only !== undefined && request.only.id !== team)) return undefined;
  const page = await teamOf(request, team).messages({ before: Number(seq) + 1, limit: 1 });
  if (!page.ok && page.problem.status === 404) return undefined;
  const [message] = unwrap(page).messages;
  if (message?.seq !== Number(seq)) return undefined;
  const part = partsOf(message)[Number(index)];
  if (part === undefined) return undefined;
  const mimeType = mediaTypeOf(part);
  return {
    contents: [
      typeof part === "string" ? { uri, mimeType, text: part } : { uri, mimeType, blob: part.data },
    ],
  };
}

function partsOf(message: Message): readonly Part[] {
  return message.type === "MultiModalMessage" ? message.content : [];
}

export function mediaTypeOf(part: Part): string {
  if (typeof part === "string") return "text/plain";
  if (isFile(part)) return part.media_type;
  return imageMediaType(part.data) ?? "image/png";
}
