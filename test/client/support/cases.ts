import { ApiError, ConnectionError, RunError, TroupeClient } from "troupe/client";
import type { JsonObject } from "#core/json.ts";

/** Where a case finds what it needs. */
export interface CaseInput {
  /** The URL of the server, or of a proxy in front of it. */
  baseURL: string;
  /** An agent whose model streams its reply. */
  speaker: JsonObject;
  /** A team that asks a human once. */
  human: JsonObject;
  /** The URL of a server that is not Troupe. */
  stranger: string;
}

type Case = (client: TroupeClient, input: CaseInput) => Promise<unknown>;

/** What programs do with the client, in any host: with only the host's features, and with a JSON value as the result. */
export const CASES = {
  /** Runs a task to its end. */
  async run(client, { speaker }) {
    const team = await client.teams.create({ component: speaker });
    const stream = team.run("Speak.");
    const items = await collect(stream);
    const { messages, texts, run } = stream.conversation;
    const { runs } = await team.runs();
    await team.delete();
    return { items, messages, texts, status: run?.status, runs: runs.length };
  },

  /** Leaves a run in the middle of its text, and watches it again. */
  async leave(client, { speaker }) {
    const team = await client.teams.create({ component: speaker });
    let run = "";
    for await (const item of team.run("Speak.")) {
      if (item.kind === "run") run = item.run.id;
      if (item.kind === "text") break;
    }
    const { messages } = await team.watch(run).result();
    return { messages };
  },

  /** Ends the connection by a signal. */
  async abort(client, { speaker }) {
    const team = await client.teams.create({ component: speaker });
    const controller = new AbortController();
    const kinds: string[] = [];
    try {
      for await (const { kind } of team.run("Speak.", { signal: controller.signal })) {
        kinds.push(kind);
        if (kind === "text") controller.abort();
      }
    } catch (error) {
      return { kinds, name: (error as Error).name };
    }
    return { kinds };
  },

  /** Answers a question while the stream waits. */
  async answer(client, { human }) {
    const team = await client.teams.create({ component: human });
    const stream = team.run("Ask me.");
    for await (const item of stream) {
      if (item.kind !== "run") continue;
      const [request] = item.run.requests;
      if (request) await team.answer(item.run.id, request.id, { content: "Yes." });
    }
    return { messages: stream.conversation.messages };
  },

  /** Runs that fail, and that are cancelled. */
  async failures(client, { speaker, human }) {
    const team = await client.teams.create({ component: speaker });
    const failed = await told(team.run("Fail.").result());
    const waiting = await client.teams.create({ component: human });
    const cancelled = await told(
      (async () => {
        for await (const item of waiting.run("Ask me.")) {
          if (item.kind !== "run" || item.run.status !== "waiting") continue;
          await waiting.stop(item.run.id, "now");
        }
      })(),
    );
    return { failed, cancelled };
  },

  /** Requests that are refused, or reach no Troupe. */
  async refusals(client, { stranger }) {
    const other = new TroupeClient({ baseURL: stranger, maxRetries: 0 });
    const nobody = new TroupeClient({ baseURL: "http://127.0.0.1:9", maxRetries: 0 });
    const locked = new TroupeClient({
      baseURL: stranger,
      maxRetries: 0,
      token: () => Promise.reject(new Error("not now")),
    });
    return {
      template: await told(client.teams.create({ template: "nothing" })),
      absent: await told(client.team("absent").get()),
      nobody: await told(nobody.whoami()),
      refused: await told(other.whoami()),
      html: await told(other.usage()),
      tokenless: await told(locked.whoami()),
    };
  },

  /** A stream of what is not one. */
  async stranger(_, { stranger }) {
    const other = new TroupeClient({ baseURL: stranger, maxRetries: 0 });
    const states: string[] = [];
    const events = other.events({ patienceMs: 0, onConnection: (state) => states.push(state) });
    return { error: await told(collect(events)), states };
  },

  /** What happens in a team and in the lists over all teams, while a run asks and is answered. */
  async events(client, { human }) {
    const team = await client.teams.create({ component: human });
    const listed = new Set<string>();
    let closed: Promise<void> | undefined;
    await new Promise<void>((resolve) => {
      const changes = client.events({ onConnection: () => resolve() });
      closed = (async () => {
        for await (const change of changes) {
          listed.add(change.kind);
          if (change.kind === "request_closed" && change.team_id === team.id) break;
        }
      })();
    });
    const { id } = await team.start("Ask me.");
    const kinds = new Set<string>();
    const states: string[] = [];
    const events = team.events({ onConnection: (state) => states.push(state) });
    for await (const item of events) {
      kinds.add(item.kind);
      if (item.kind !== "run") continue;
      const [request] = item.run.requests;
      if (request) await team.answer(id, request.id, { content: "Yes." });
      if (item.run.status === "completed") break;
    }
    await closed;
    return { kinds: [...kinds].toSorted(), listed: [...listed].toSorted(), states };
  },
} satisfies Record<string, Case>;

export type CaseName = keyof typeof CASES;

/** Runs a case and returns its outcome. */
export function runCase(name: CaseName, input: CaseInput): Promise<unknown> {
  return CASES[name](new TroupeClient({ baseURL: input.baseURL }), input);
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** What a program sees of an error. */
async function told(outcome: Promise<unknown>): Promise<JsonObject> {
  try {
    await outcome;
    return {};
  } catch (error) {
    const { name } = error as Error;
    if (error instanceof ApiError) return { name, code: error.code, status: error.status };
    if (error instanceof RunError) return { name, code: error.code, run: error.run.status };
    if (error instanceof ConnectionError) return { name, code: error.code };
    return { name, message: String(error) };
  }
}
