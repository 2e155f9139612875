import { isDeepStrictEqual } from "node:util";
import { HttpAgent } from "../../peers/ag-ui.ts";
import type { TestWorker } from "../../support/worker.ts";
import { newTeam } from "../../api/protocols/support/teams.ts";
import { difference, type Ids } from "./compare.ts";
import type { Exchange, Journey, TraceEvent, TraceInput } from "./trace.ts";

/** A client that sends a body as it is, and takes the stream as every client does, which checks the order of its events. */
class TraceClient extends HttpAgent {
  body = "";

  protected override requestInit(input: Parameters<HttpAgent["requestInit"]>[0]): RequestInit {
    return { ...super.requestInit(input), body: this.body };
  }
}

/** The result of a test; without a failure it has passed. */
export interface Result {
  test: string;
  failure?: string | undefined;
}

/** Repeats a recorded conversation with a team, and compares the events that each request gets with those of the trace. */
export async function* replay(worker: TestWorker, journey: Journey): AsyncGenerator<Result> {
  const id = journey.name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase();
  await newTeam(worker, { id, component: journey.component });
  const url = new URL(`/ag-ui/teams/${id}`, await worker.origin).href;
  const ids: Ids = new Map();
  const client = new TraceClient({ url });
  for (const [index, exchange] of journey.exchanges.entries()) {
    const test = `${journey.name}, request ${index + 1}`;
    yield { test: `${test}, events`, failure: await failureOf(client, exchange, journey, ids) };
    if (journey.sharesState)
      yield { test: `${test}, state`, failure: stateDifference(client, exchange) };
  }
}

async function failureOf(
  client: TraceClient,
  { input, events: expected }: Exchange,
  { answer }: Journey,
  ids: Ids,
): Promise<string | undefined> {
  const events: TraceEvent[] = [];
  const body = withIds(input, ids, answer);
  client.body = JSON.stringify(body);
  try {
    // The .NET client sends messages without ids; this one's own have some.
    const messages = body.messages.map((message, index) => ({ id: `${index}`, ...message }));
    client.setMessages(messages as Parameters<HttpAgent["setMessages"]>[0]);
    const { resume = [] } = body;
    await client.runAgent({ resume }, { onEvent: ({ event }) => void events.push(event) });
  } catch (error) {
    return String(error);
  }
  return difference(expected, events, ids);
}

function stateDifference({ state }: TraceClient, { events }: Exchange): string | undefined {
  const last = events.findLast(({ type }) => type === "STATE_SNAPSHOT")?.["snapshot"];
  const { troupe: _, ...shared } = state;
  return isDeepStrictEqual(shared, last) ? undefined : `the state is ${JSON.stringify(shared)}`;
}

/** The body with the ids of the team instead of those of the trace. */
function withIds(input: TraceInput, ids: Ids, answer: Journey["answer"]): TraceInput {
  const own = JSON.parse(JSON.stringify(input), (key, value: unknown) =>
    typeof value === "string" && /^id$|^toolCallId$|^interruptId$/.test(key)
      ? (ids.get(value) ?? value)
      : value,
  ) as TraceInput;
  if (answer === undefined) return own;
  const resume = own.resume?.map((entry) => ({ ...entry, payload: answer(entry.payload ?? {}) }));
  return { ...own, ...(resume && { resume }) };
}
