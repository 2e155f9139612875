import { type Kill, nameOf } from "./harness/kill.ts";
import type { Place } from "./harness/place.ts";
import { Stage } from "./harness/stage.ts";
import { DEADLINE_MS } from "./harness/trial.ts";
import type { Case } from "./runner.ts";
import { assistant, roundRobin } from "./scenarios/components.ts";

/** Writes between the arrival of an event and its answer. */
const ARRIVAL =
  /^tenant: (insert|update|delete) (inbound|inbound_delivery|webhook_secret)\b|^insert (idempotency|run)\b/;
const SECRET = "secret-of-the-sender";

interface Trial {
  problems: string[];
  /** Labels of the writes of the first process, and how often each occurred. */
  writes: ReadonlyMap<string, number>;
}

/** An event that is sent until it is answered starts one run, and is listed with it, wherever the service is killed. */
export async function* triggerCases(place: Place, long: boolean): AsyncGenerator<Case, void, void> {
  const reference = await trial(place, []);
  yield { name: "triggers: no kill", run: () => Promise.resolve(reference.problems) };
  for (const [label, count] of reference.writes) {
    if (!ARRIVAL.test(label)) continue;
    for (const mode of ["lost", "durable"] as const) {
      for (let occurrence = 1; occurrence <= (long ? count : 1); occurrence++) {
        const kill: Kill = { at: "write", label, occurrence, mode };
        yield {
          name: `triggers: ${nameOf(kill)}`,
          run: async () => (await trial(place, [kill])).problems,
        };
      }
    }
  }
}

async function trial(place: Place, plan: readonly Kill[]): Promise<Trial> {
  await using stage = await Stage.start(place, { plan });
  const { api, fake, supervisor, writes } = stage;
  await api.createTeam(
    roundRobin([assistant({ model: fake.url }, "speaker", { model_client_stream: true })], 2),
  );
  await api.putTrigger("door", { kind: "plain", secret: SECRET, task: "Speak of {{ subject }}." });
  const started = await api.sendEvent("door", SECRET, { subject: "rain" });
  const run = await api.waitForRun(started, DEADLINE_MS / 1000);
  await supervisor.calm();
  const problems: string[] = [];
  const runs = await api.runs();
  if (runs.length !== 1 || run.status !== "completed")
    problems.push(`runs: ${runs.map(({ id, status }) => `${id} ${status}`).join("; ")}`);
  const listed = (await api.deliveries("door")).map(({ status, run: of }) => `${status} ${of}`);
  if (listed.join("; ") !== `ran ${started}`) problems.push(`listed: ${listed.join("; ")}`);
  if (supervisor.killed.length === 0 && plan.length > 0) problems.push("it was not killed");
  return { problems, writes };
}
