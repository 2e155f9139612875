import { setTimeout as sleep } from "node:timers/promises";
import { EchoServer } from "../support/echo-server.ts";
import { type Kill, nameOf } from "./harness/kill.ts";
import type { Place } from "./harness/place.ts";
import { Stage } from "./harness/stage.ts";
import { DEADLINE_MS } from "./harness/trial.ts";
import type { Case } from "./runner.ts";
import { assistant, roundRobin } from "./scenarios/components.ts";

/** Writes of deliveries, by the tables of the tenant. */
const DELIVERY = /^tenant: .*(delivery|webhook)|^(insert|update|delete) outbox/;

interface Received {
  id: string;
  body: string;
}

interface Trial {
  problems: string[];
  /** Labels of the writes of the first process, and how often each occurred. */
  writes: ReadonlyMap<string, number>;
}

/** Each event is delivered at least once, under one id, in order, wherever the service is killed. */
export async function* webhookCases(place: Place, long: boolean): AsyncGenerator<Case, void, void> {
  const reference = await trial(place, []);
  yield { name: "webhooks: no kill", run: () => Promise.resolve(reference.problems) };
  for (const [label, count] of reference.writes) {
    if (!DELIVERY.test(label)) continue;
    for (const mode of ["lost", "durable"] as const) {
      for (let occurrence = 1; occurrence <= (long ? count : 1); occurrence++) {
        const kill: Kill = { at: "write", label, occurrence, mode };
        const plans = long ? [[kill], [kill, { ...kill, occurrence: 1 }]] : [[kill]];
        for (const plan of plans) {
          yield {
            name: `webhooks: ${plan.map(nameOf).join(", ")}`,
            run: async () => (await trial(place, plan)).problems,
          };
        }
      }
    }
  }
}

async function trial(place: Place, plan: readonly Kill[]): Promise<Trial> {
  const received: Received[] = [];
  await using receiver = await EchoServer.start((response, { headers, body }) => {
    received.push({ id: String(headers["webhook-id"]), body });
    response.end();
  });
  const url = `http://127.0.0.1:${receiver.port}/`;
  await using stage = await Stage.start(place, { plan });
  const { api, fake, supervisor, writes } = stage;
  await api.putWebhook("all", { url, events: ["message", "run.completed"] });
  await api.createTeam(
    roundRobin([assistant({ model: fake.url }, "speaker", { model_client_stream: true })], 2),
  );
  const { id } = await api.startRun("Speak.");
  const run = await api.waitForRun(id, DEADLINE_MS / 1000);
  const messages = await api.messages();
  const expected = [...messages.map(({ id: message }) => message), run.id];
  const told = (): string[] => inOrder(received);
  while (told().length < expected.length && !stage.later(DEADLINE_MS)) {
    await sleep(20);
  }
  await supervisor.calm();
  const problems = [...idsOfBodies(received)];
  if (told().join(" ") !== expected.join(" "))
    problems.push(`delivered: ${told().join(" ")}; expected: ${expected.join(" ")}`);
  if (supervisor.killed.length === 0 && plan.length > 0) problems.push("it was not killed");
  return { problems, writes };
}

/** Ids of what the events are about, each once, in the order in which they came first. */
function inOrder(received: readonly Received[]): string[] {
  return [...new Set(received.map(({ body }) => subjectOf(body)))];
}

function subjectOf(body: string): string {
  const { data } = JSON.parse(body) as { data: { id?: string; message?: { id: string } } };
  return data.message?.id ?? data.id ?? "";
}

/** An event that came again must have come under the same id. */
function idsOfBodies(received: readonly Received[]): string[] {
  const ids = new Map<string, string>();
  const problems: string[] = [];
  for (const { id, body } of received) {
    const subject = subjectOf(body);
    if ((ids.get(subject) ?? id) !== id)
      problems.push(`${subject} came as ${ids.get(subject)} and as ${id}`);
    ids.set(subject, id);
  }
  return problems;
}
