import { bundle } from "../support/bundle.ts";
import { startWorkerd } from "../support/workerd.ts";
import { conversationTeam } from "./conversation-team.ts";
import { type Peer, takeTurns } from "./peer.ts";
import { send } from "./send.ts";
import { dumpComponent } from "troupe";

/** Troupe as a service: a team in its object, over HTTP. A turn is a run, streamed as SSE or waited for. */
export async function startDurableTeam(): Promise<Peer> {
  const worker = await bundle("src/service/worker.ts", {
    objects: { TEAM: "TeamObject", TENANT: "TenantObject" },
    vars: { TROUPE_OPEN: "1", SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") },
  });
  const workerd = await startWorkerd(worker);
  return {
    name: "Troupe, a team in workerd",
    durable: "the conversation; a turn under way is finished",
    open: async (options) => {
      const team = conversationTeam(options);
      const teams = `${workerd.origin}/v1/teams`;
      const created = await send("POST", teams, { component: dumpComponent(team) });
      const url = `${teams}/${(JSON.parse(created) as { id: string }).id}`;
      if (options.history > 0) await send("PUT", `${url}/state`, team.saveState());
      const say = async (task: string): Promise<void> => {
        const answer = options.stream
          ? await send("POST", `${url}/runs`, { task }, "text/event-stream")
          : await send("POST", `${url}/runs?wait=120`, { task });
        const ended = options.stream ? '"type":"TaskResult"' : '"status":"completed"';
        if (!answer.includes(ended)) throw new Error(`the run did not complete: ${answer}`);
      };
      return { turns: (count) => takeTurns(say, count, () => workerd.cpu()) };
    },
    [Symbol.asyncDispose]: async () => {
      await workerd[Symbol.asyncDispose]();
      worker[Symbol.dispose]();
    },
  };
}
