import type { ListedRequest, RunPush } from "../../contract/directory.ts";
import { humanSources } from "../../core/messages/human-sources.ts";
import { isChatMessage } from "../../core/messages/kinds.ts";
import type { Message } from "../../core/messages/message.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RunRecord } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";

/** Messages looked through for the answer: the last may be a human's, or events. */
const MOST_MESSAGES = 50;
const MOST_READ = 2_000_000;
/** Characters of an answer. Receivers ask for larger ones. */
const LARGEST_ANSWER = 64_000;
/** Characters of all questions together. */
const LARGEST_REQUESTS = 256_000;

/** What push notification configs are told of a run besides itself; undefined when there is nobody to tell, or nothing. */
export function runPush(
  stores: Stores,
  record: RunRecord,
  listed: () => ListedRequest[],
): RunPush | undefined {
  const { push: configs = [], status } = record;
  if (configs.length === 0) return undefined;
  switch (status) {
    case "waiting":
      return { configs, requests: fitting(listed()), answer: null };
    case "completed":
      return { configs, requests: [], answer: answerOf(stores, record) };
    case "failed":
    case "cancelled":
      return { configs, requests: [], answer: null };
    default:
      return undefined;
  }
}

function fitting(requests: readonly ListedRequest[]): ListedRequest[] {
  let room = LARGEST_REQUESTS;
  return requests.filter((request) => (room -= JSON.stringify(request).length) >= 0);
}

/** The last message of an agent. */
function answerOf({ log, runs }: Stores, { id, first_event }: RunRecord): JsonObject | null {
  const stored = runs.byId(id);
  const given = new Set((stored && runs.task(stored))?.map((message) => message.id));
  const said: Message[] = [];
  let room = MOST_READ;
  for (const message of log.backwards(first_event)) {
    room -= message.size;
    if (said.length === MOST_MESSAGES || room < 0) break;
    said.push(message.read());
  }
  const humans = humanSources(said);
  const answer = said.find(
    (message) => isChatMessage(message) && !humans.has(message.source) && !given.has(message.id),
  );
  if (answer === undefined || JSON.stringify(answer).length > LARGEST_ANSWER) return null;
  return answer as unknown as JsonObject;
}
