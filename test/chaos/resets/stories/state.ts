import type { JsonObject } from "troupe";
import { assistant, person, roundRobin } from "../../scenarios/components.ts";
import type { Session } from "../session.ts";
import { run, same, type Story } from "./story.ts";

interface Staged {
  state: string | null;
  complete: boolean;
}

/** The state of a team, without what another team has of its own. */
async function stateOf(session: Session, team: string): Promise<JsonObject> {
  return session.get<JsonObject>(`/teams/${team}/state`);
}

/** A state is loaded in parts by another team, and a team is forked. */
export const STATE: Story = {
  name: "a state in parts, and a fork",
  async happens(session) {
    const component = roundRobin([assistant({ model: session.options.fake.url }, "speaker")], 2);
    for (const id of ["source", "target"]) await session.post("/teams", { id, component });
    await run(session, "source", "Speak.");
    const part = await session.text("/teams/source/state/parts");
    const { state, complete } = await session.call<Staged>(
      "PUT",
      "/teams/target/state/parts/1",
      part,
      [200],
    );
    if (!complete) throw new Error("the only part is not all");
    await session.call("POST", "/teams/target/state/commit", { state }, [204]);
    const expected = await stateOf(session, "source");
    same("the state that was loaded", await stateOf(session, "target"), expected);
    await session.post("/teams/source/fork", { id: "fork" });
    same("the state of the fork", await stateOf(session, "fork"), expected);
  },
};

/** Runs wait for a human, are queued behind each other and run on a schedule. */
export const QUEUE: Story = {
  name: "a question, a queue and a schedule",
  async happens(session) {
    const agents = [
      assistant({ model: session.options.fake.url }, "speaker"),
      person("person", {}),
    ];
    await session.post("/teams", { id: "team", component: roundRobin(agents, 2) });
    const tasks = ["one", "two"];
    const runs: string[] = [];
    for (const task of tasks) {
      const body = { task, on_conflict: "queue" };
      runs.push((await session.post<{ id: string }>("/teams/team/runs", body)).id);
    }
    for (const id of runs) {
      const path = `/teams/team/runs/${id}`;
      let open: { id: string } | undefined;
      await session.until(`the run ${id} asks`, async () => {
        [open] = (await session.get<{ requests: { id: string }[] }>(path)).requests;
        return open !== undefined;
      });
      await session.post(`${path}/requests/${open?.id}`, { content: "Go on." });
      await session.until(
        `the run ${id} completes`,
        async () => (await session.get<{ status: string }>(path)).status === "completed",
      );
    }
    const at = new Date(Date.now() + 1_000).toISOString();
    const schedule = { id: "soon", at, task: "three", on_conflict: "queue" };
    await session.call("POST", "/teams/team/schedules", schedule, [201]);
    await session.until("the schedule starts one run", async () => {
      const page = await session.get<{ runs: { task: { content: string }[] }[] }>(
        "/teams/team/runs",
      );
      const found = page.runs.map(({ task }) => task[0]?.content).toReversed();
      return found.join() === "one,two,three";
    });
    await session.until("the inbox shows the question", async () => {
      const { requests } = await session.get<{ requests: object[] }>("/requests");
      return requests.length === 1;
    });
  },
};
