import { type AgentSubscriber, HttpAgent, type RunAgentParameters } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import type { TestWorker } from "../../../support/worker.ts";

/** The events of a run as the client took them. */
export interface Seen {
  events: BaseEvent[];
  types: string[];
}

export interface AgentOptions {
  threadId?: string;
  headers?: Record<string, string>;
}

/** An unmodified client of the team. */
export async function agentOf(
  worker: TestWorker,
  team: string,
  options: AgentOptions = {},
): Promise<HttpAgent> {
  const url = new URL(`/ag-ui/teams/${team}`, await worker.origin);
  return new HttpAgent({ url: url.href, ...options });
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
  const events: BaseEvent[] = [];
  await agent.runAgent(parameters, {
    ...subscriber,
    onEvent: ({ event }) => void events.push(event),
  });
  return { events, types: events.map(({ type }) => type) };
}

/** The event that ended the run. */
export function endOf({ events }: Seen): BaseEvent | undefined {
  return events.at(-1);
}

/** Of Troupe, as the first event names it. */
export function runIdOf({ events }: Seen): string {
  return (events[0]?.metadata as { troupe: { run_id: string } }).troupe.run_id;
}
