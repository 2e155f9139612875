import { setTimeout as sleep } from "node:timers/promises";
import type { RunInfo } from "#contract/run.ts";
import type { Frame } from "../../harness/sse-client.ts";
import { StreamRecord } from "../../harness/stream-record.ts";
import { assistant, roundRobin, STREAMING } from "../../scenarios/components.ts";
import type { Session } from "../session.ts";
import { completed, same, type Story } from "./story.ts";

const WATCHERS = 3;
const AGAIN_MS = 30;

/** Follows a run to its end, over as many connections as it takes. */
async function follow(session: Session, id: string): Promise<StreamRecord> {
  const record = new StreamRecord();
  while (!record.ended) {
    record.connected();
    const { cursor } = record;
    await session
      .stream(`/teams/team/runs/${id}/events`, {
        ...(cursor !== undefined && { lastEventId: cursor }),
        onFrame: (frame: Frame) => record.add(frame),
      })
      .catch(async (error: unknown) => {
        session.refusedOrBroken(error);
        await sleep(AGAIN_MS);
      });
  }
  return record;
}

/** Clients follow a run whose team, or whose tenant, is reset: the Worker that holds their streams lives. */
export const STREAMS: Story = {
  name: "clients of a stream",
  async happens(session) {
    const agents = ["speaker", "listener"].map((name) =>
      assistant({ model: session.options.fake.url }, name, STREAMING),
    );
    await session.post("/teams", { id: "team", component: roundRobin(agents, 4) });
    const { id } = await session.post<RunInfo>("/teams/team/runs", { task: "Speak." });
    const watching = Array.from({ length: WATCHERS }, () => follow(session, id));
    const [first, ...others] = await Promise.all(watching);
    await completed(session, "team", id);
    const replay = await follow(session, id);
    for (const record of [first, ...others]) {
      const problem = record?.problems[0];
      if (problem !== undefined) throw new Error(problem);
      same("what a client got", record?.recorded, replay.recorded);
    }
  },
};
