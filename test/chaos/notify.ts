import { setTimeout as sleep } from "node:timers/promises";
import { EchoServer } from "../support/echo-server.ts";
import { type Kill, nameOf } from "./harness/kill.ts";
import type { Place } from "./harness/place.ts";
import { Stage } from "./harness/stage.ts";
import { DEADLINE_MS } from "./harness/trial.ts";
import type { Case } from "./runner.ts";
import { person, roundRobin } from "./scenarios/components.ts";

/** Writes between a question, its message and its link, by the tables of the tenant. */
const NOTIFIED = /^tenant: .*(delivery|notify|team_token)|^(insert|update|delete) outbox/;

interface Received {
  id: string;
  link: string;
}

interface Trial {
  problems: string[];
  /** Labels of the writes of the first process, and how often each occurred. */
  writes: ReadonlyMap<string, number>;
}

/** A question is sent at least once, under one id and with one link, which answers it, wherever the service is killed. */
export async function* notifyCases(place: Place, long: boolean): AsyncGenerator<Case, void, void> {
  const reference = await trial(place, []);
  yield { name: "notify: no kill", run: () => Promise.resolve(reference.problems) };
  for (const [label, count] of reference.writes) {
    if (!NOTIFIED.test(label)) continue;
    for (const mode of ["lost", "durable"] as const) {
      for (let occurrence = 1; occurrence <= (long ? count : 1); occurrence++) {
        const kill: Kill = { at: "write", label, occurrence, mode };
        yield {
          name: `notify: ${nameOf(kill)}`,
          run: async () => (await trial(place, [kill])).problems,
        };
      }
    }
  }
}

async function trial(place: Place, plan: readonly Kill[]): Promise<Trial> {
  const received: Received[] = [];
  await using receiver = await EchoServer.start((response, { headers, body }) => {
    const { data } = JSON.parse(body) as { data: { answer_url?: string } };
    received.push({ id: String(headers["webhook-id"]), link: data.answer_url ?? "" });
    response.end();
  });
  const url = `http://127.0.0.1:${receiver.port}/`;
  await using stage = await Stage.start(place, { plan });
  const { api, supervisor, writes } = stage;
  await api.createTeam(roundRobin([person("human")], 1));
  const notify = [{ kind: "webhook", url, on: ["request.created"] }];
  await api.call("PUT", "/teams/team/notify", { notify }, [200]);
  const { id } = await api.startRun("Ask.");
  while (received.length === 0 && !stage.later(DEADLINE_MS)) await sleep(20);
  const page = `/v1/answer${new URL(received[0]?.link ?? "http://none").search}`;
  const form = new URLSearchParams({ content: "By link." });
  const answer = async (): Promise<number> => {
    const sent = fetch(new URL(page, new URL(api.teamUrl).origin), { method: "POST", body: form });
    return sent.then(
      ({ status }) => status,
      () => 0,
    );
  };
  let status = await answer();
  // A service that is killed, or is back again, is asked again.
  while ((status === 0 || status === 503) && !stage.later(DEADLINE_MS)) {
    await sleep(20);
    status = await answer();
  }
  const problems: string[] = [];
  // It may have taken the answer before it was killed.
  const isTaken = status === 200 || (status === 410 && supervisor.killed.length > 0);
  if (!isTaken) problems.push(`the link answered ${status}`);
  const run = await api.waitForRun(id, DEADLINE_MS / 1000);
  if (run.status !== "completed") problems.push(`the run is ${run.status}`);
  // The link is a row of the team's tokens until the tenant knows that its question is closed.
  const linksLeft = async (): Promise<number> => {
    const listed = await api.call("GET", "/teams/team/tokens", undefined, [200]);
    return (listed as { tokens: object[] }).tokens.length;
  };
  let left = await linksLeft();
  for (; left > 0 && !stage.later(DEADLINE_MS); left = await linksLeft()) await sleep(20);
  if (left > 0) problems.push(`${left} links are left after the answer`);
  await supervisor.calm();
  const ids = new Set(received.map(({ id: one }) => one));
  const links = new Set(received.map(({ link }) => new URL(link).search));
  if (ids.size !== 1) problems.push(`one question came under the ids ${[...ids].join(" ")}`);
  if (links.size !== 1) problems.push(`one question came with ${links.size} links`);
  if (supervisor.killed.length === 0 && plan.length > 0) problems.push("it was not killed");
  return { problems, writes };
}
