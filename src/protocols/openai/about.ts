import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { RunInfo } from "../../contract/run.ts";

/** In the metadata of a run: how its answer is written. In that of a team: that it was made for one request. */
const KEY = "openai";

/** How the answer of a run is written, now and whenever it is asked for again. */
export interface AboutAnswer {
  /** As the request named it. */
  model: string;
  /** The agent whose texts are the answer while they stream; null where only the last message is. */
  live: string | null;
  /** Whether what other agents say, and what tools do, is shown, too. */
  show: "final" | "all";
  /** Whether structured messages are JSON, rather than the text made of them. */
  json: boolean;
  /** Names of the client's tools. */
  tools: string[];
  previous: string | null;
  /** A hash of the request's instructions: the same ones are said once. */
  instructions: string | null;
}

/** The metadata of a run. @param metadata the client's */
export function runMetadata(metadata: JsonObject, about: AboutAnswer): JsonObject {
  return { ...metadata, [KEY]: { ...about } };
}

/** The metadata of a run whose team has the agent. */
export function withLive(metadata: JsonObject, live: AboutAnswer["live"]): JsonObject {
  const stored = metadata[KEY];
  return { ...metadata, [KEY]: { ...(isJsonObject(stored) && stored), live } };
}

/** How the answer of a run is written. Runs that were started elsewhere have the defaults. */
export function aboutRun({
  metadata,
  team_id,
}: Pick<RunInfo, "metadata" | "team_id">): AboutAnswer {
  const stored = metadata[KEY];
  const about = isJsonObject(stored) ? (stored as unknown as Partial<AboutAnswer>) : {};
  return {
    model: `team:${team_id}`,
    live: null,
    show: "final",
    json: false,
    tools: [],
    previous: null,
    instructions: null,
    ...about,
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

/** Whether a team was made for one request. */
export function isTemporary(metadata: JsonObject): boolean {
  const stored = metadata[KEY];
  return isJsonObject(stored) && typeof stored.template === "string";
}
