import { beginningOf } from "../../../core/cut.ts";
import type { AskedRequest, HumanRequest } from "../../../contract/run.ts";
import { type JsonObject, withNumbers } from "../../../core/json.ts";
import type { Message } from "../../../core/messages/message.ts";
import { shownRule } from "../../storage/runs/question-record.ts";
import type { StoredQuestion } from "../../storage/runs/question-store.ts";
import type { StoredRun } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";

type RequestContext = HumanRequest["context"];

/** Every frame that shows the run carries its open requests. */
const MOST_MESSAGES = 20;
const MOST_CHARACTERS = 32_000;
/** A shorter remainder of a text is not worth sending. */
const LEAST_CHARACTERS = 200;

/** The run's open questions, at least one, as the API shows them: with the messages before them. */
export function shownRequests(
  stores: Stores,
  record: StoredRun["record"],
  open: readonly StoredQuestion[],
): HumanRequest[] {
  const context = contextOf(stores, record);
  return open.map((question) => ({ ...shownQuestion(question), context }));
}

function shownQuestion({
  question,
  createdAt,
  expiresAt,
}: StoredQuestion): Omit<HumanRequest, "context"> {
  const { timeout_seconds: _, default_answer: byDefault, login, judged, ...shown } = question;
  return {
    ...shown,
    ...(judged && shownRule(judged)),
    ...(login && { login: { server: login.server, user: login.user } }),
    ...(byDefault && { default_answer: { ...byDefault } }),
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** A question with its answer. */
export function askedRequest(asked: StoredQuestion): AskedRequest {
  const { answer } = asked;
  const shown = shownQuestion(asked);
  if (answer === undefined) {
    return { ...shown, status: "open", answer: null, answered_at: null, answered_by: null };
  }
  return {
    ...shown,
    status: answer.expired ? "expired" : "answered",
    // As in the arguments of the call, a number that JavaScript would change is a text.
    answer: withNumbers({ ...answer.value }, String) as JsonObject,
    answered_at: new Date(answer.time.at).toISOString(),
    answered_by: answer.by,
  };
}

/** The last messages of the run and of the runs that it retries, as many as fit. */
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
    // The request itself contains more.
    if (message === undefined || message.type === "UserInputRequestedEvent") continue;
    messages.push(message);
    room -= Math.min(size, room);
  }
  return { messages: messages.toReversed(), truncated };
}

/** The message with its text truncated; undefined for other contents, which cannot be truncated. */
function shortened(message: Message, room: number): Message | undefined {
  if (!("content" in message) || typeof message.content !== "string") return undefined;
  return { ...message, content: `${beginningOf(message.content, room - 1)}…` } as Message;
}
