import {
  type AgentSubscriber,
  HttpAgent,
  type RunAgentParameters,
} from "../../../../peers/ag-ui.ts";

export type SeenEvent = { type: string; [field: string]: unknown };

/** The events of a run as the client took them. */
export interface Seen {
  events: SeenEvent[];
  types: string[];
}

export interface AgentOptions {
  threadId?: string;
  headers?: Record<string, string>;
}

/** An unmodified client of the team. */
export async function agentOf(
  worker: { origin: string | Promise<string> },
  team: string,
  options: AgentOptions = {},
): Promise<HttpAgent> {
  const url = new URL(`/ag-ui/teams/${team}`, await worker.origin);
  return new HttpAgent({ url: url.href, ...options });
}

/** The official client with its checks, which has read such a stream, and the events that it took. */
export async function readStream(text: string): Promise<{ agent: HttpAgent; events: SeenEvent[] }> {
  const events: SeenEvent[] = [];
  const headers = { "content-type": "text/event-stream" };
  const agent = new HttpAgent({
    url: "http://troupe.test/",
    fetch: () => Promise.resolve(new Response(text, { headers })),
  });
  await agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) });
  return { agent, events };
}

/** Adds what the user says, and runs the team. */
export function say(
  agent: HttpAgent,
  content: string,
  parameters: RunAgentParameters = {},
): Promise<Seen> {
  agent.messages.push({ id: crypto.randomUUID(), role: "user", content });
  return run(agent, parameters);
}

export async function run(
  agent: HttpAgent,
  parameters: RunAgentParameters = {},
  subscriber: AgentSubscriber = {},
): Promise<Seen> {
  const events: SeenEvent[] = [];
  await agent.runAgent(parameters, {
    ...subscriber,
    onEvent: ({ event }) => void events.push(event),
  });
  return { events, types: events.map(({ type }) => type) };
}

/** The event that ended the run. */
export function endOf({ events }: Seen): SeenEvent {
  const end = events.at(-1);
  if (end === undefined) throw new Error("there was no event");
  return end;
}

/** The id of Troupe's run, as the first event names it. */
export function runIdOf({ events }: Seen): string {
  const { metadata } = events[0] as unknown as { metadata: { troupe: { run_id: string } } };
  return metadata.troupe.run_id;
}
