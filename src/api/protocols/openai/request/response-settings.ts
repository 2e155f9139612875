import * as z from "zod";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import type { RunInfo } from "../../../../contract/run.ts";

/** The key of a run's metadata with its settings, and of a team's metadata that says that it was made for one request. */
const KEY = "openai";

/** The form of a run's answer, now and whenever it is asked for again. */
export const settingsSchema = z.object({
  /** As the request named it. */
  model: z.string(),
  /** The agent whose texts are the answer while they stream; null where only the last message is. */
  live: z.string().nullable(),
  /** `all` shows the messages of other agents and the calls of tools, too. */
  show: z.enum(["final", "all"]),
  /** True if structured messages are JSON, rather than the text made of them. */
  json: z.boolean(),
  /** Names of the client's tools. */
  tools: z.array(z.string()),
  /** The id of the response before. */
  previous: z.string().nullable(),
  /** A hash of the request's instructions, which a conversation gets only when they change. */
  instructions: z.string().nullable(),
  /** False for a response that is not to be stored. */
  kept: z.boolean(),
});
export type ResponseSettings = z.output<typeof settingsSchema>;

/** Settings as they are stored. Versions before may have stored fewer. */
const storedSchema = settingsSchema.partial();

/** The metadata of a run. @param metadata the client's */
export function runMetadata(metadata: JsonObject, about: ResponseSettings): JsonObject {
  return { ...metadata, [KEY]: { ...about } };
}

/** The metadata of a run whose team has the agent. */
export function withLive(metadata: JsonObject, live: ResponseSettings["live"]): JsonObject {
  const stored = metadata[KEY];
  return { ...metadata, [KEY]: { ...(isJsonObject(stored) && stored), live } };
}

/** The settings of a run's answer. Runs that were started elsewhere have the defaults. */
export function settingsOf({
  metadata,
  team_id,
}: Pick<RunInfo, "metadata" | "team_id">): ResponseSettings {
  const stored = storedSchema.safeParse(metadata[KEY]);
  return {
    model: `team:${team_id}`,
    live: null,
    show: "final",
    json: false,
    tools: [],
    previous: null,
    instructions: null,
    kept: true,
    ...stored.data,
  };
}

/** The client's metadata of a run: texts. */
export function clientMetadata({ metadata }: Pick<RunInfo, "metadata">): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).filter(
      (entry): entry is [string, string] => entry[0] !== KEY && typeof entry[1] === "string",
    ),
  );
}

/** The metadata of a team that was made for one request. */
export function temporaryTeam(template: string): JsonObject {
  return { [KEY]: { template } };
}

/** The metadata of a team that was made as a conversation. */
export function conversationTeam(): JsonObject {
  return { [KEY]: { conversation: true } };
}

export function isConversation(metadata: JsonObject): boolean {
  const stored = metadata[KEY];
  return isJsonObject(stored) && stored.conversation === true;
}

/** True if the team was made for one request. */
export function isTemporary(metadata: JsonObject): boolean {
  const stored = metadata[KEY];
  return isJsonObject(stored) && typeof stored.template === "string";
}
