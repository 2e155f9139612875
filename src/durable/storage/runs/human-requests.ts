import type { Message } from "../../../core/messages/message.ts";
import type { HumanRequest } from "../../../contract/run.ts";
import type { StoredQuestion } from "./question-store.ts";
import type { StoredRun } from "./run-store.ts";
import type { Stores } from "../stores.ts";

type RequestContext = HumanRequest["context"];

/** Every frame that shows the run carries its open requests. */
const MOST_MESSAGES = 20;
const MOST_CHARACTERS = 32_000;
/** Less of a text is of no use. */
const LEAST_CHARACTERS = 200;

/** The run's open questions as the API shows them, with what was said before. */
export function openRequests(stores: Stores, { record }: StoredRun): HumanRequest[] {
  const open = stores.questions.open(record.id);
  if (open.length === 0) return [];
  const context = contextOf(stores, record);
  return open.map((question) => humanRequest(question, context));
}

function humanRequest(
  { question, createdAt, expiresAt }: StoredQuestion,
  context: RequestContext,
): HumanRequest {
  const { timeout_seconds: _timeout, default_answer: _default, ...shown } = question;
  return {
    ...shown,
    context,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** The last messages of the run, and of the runs that it retries, as far as there is room for them. */
function contextOf({ runs, log }: Stores, record: StoredRun["record"]): RequestContext {
  let first = record;
  while (first.retry_of !== null) {
    const retried = runs.byId(first.retry_of);
    if (retried === undefined) break;
    first = retried.record;
  }
  const messages: Message[] = [];
  let truncated = false;
  let room = MOST_CHARACTERS;
  for (const said of log.backwards(first.first_event)) {
    if (messages.length === MOST_MESSAGES || room < LEAST_CHARACTERS) {
      truncated = true;
      break;
    }
    const { size } = said;
    const message = size <= room ? said.read() : shortened(said.read(), room);
    if (size > room) truncated = true;
    // The request itself says more.
    if (message === undefined || message.type === "UserInputRequestedEvent") continue;
    messages.push(message);
    room -= Math.min(size, room);
  }
  return { messages: messages.toReversed(), truncated };
}

/** The message with its text cut; undefined for other contents, of which a part is no use. */
function shortened(message: Message, room: number): Message | undefined {
  if (!("content" in message) || typeof message.content !== "string") return undefined;
  return { ...message, content: `${message.content.slice(0, room - 1)}…` } as Message;
}
