import { runInDurableObject } from "cloudflare:test";
import type { ComponentModel, JsonObject, Message } from "troupe";
import type { Result } from "#contract/result.ts";
import { Gate } from "./gate.ts";
import { agent, roundRobin, startInput, TestTeam, value } from "./team.ts";
import type { Call } from "./team-model.ts";
import type { View } from "./team-outcomes.ts";

/** The team of the model in an object: a worker whose turns a test holds, and a human, in turn without end. */
export class WorkedTeam {
  readonly team = new TestTeam();
  readonly gate = new Gate();
  readonly #worker: ComponentModel;
  saved: JsonObject | null = null;
  readonly #forks: (readonly unknown[])[] = [];
  #versions = 0;

  constructor() {
    const { gate } = this;
    this.#worker = agent("worker", async function* (_self, ctx) {
      yield* [];
      return ctx.step("model:0", ({ signal }) => gate.pass(signal));
    });
  }

  /** @returns `ok` or the code of the problem */
  async call(call: Call): Promise<string> {
    const { team } = this;
    const { gateway } = team;
    switch (call.kind) {
      case "create":
        return codeOf(
          gateway.create({ id: team.id, label: null, metadata: {}, component: this.#component() }),
        );
      case "destroy":
        return codeOf(gateway.destroy());
      case "reset":
        return codeOf(gateway.reset());
      case "replace":
        return codeOf(gateway.replaceComponent(this.#component()));
      case "save": {
        const saved = await gateway.saveState();
        if (saved.ok) this.saved = saved.value;
        return saved.ok ? "ok" : saved.problem.code;
      }
      case "load": {
        const saved = call.saved as JsonObject | null;
        return codeOf(saved === null ? gateway.reset() : gateway.loadState(saved));
      }
      case "start":
        return codeOf(
          gateway.startRun(
            startInput(call.task, { on_conflict: call.interrupt ? "interrupt" : "reject" }),
          ),
        );
      case "fork":
        return this.#fork(call.turn);
      case "retry":
        return codeOf(gateway.retryRun(call.run));
      case "pause":
        return codeOf(gateway.pauseRun(call.run));
      case "resume":
        return codeOf(gateway.resumeRun(call.run));
      case "stop":
        return codeOf(gateway.stopRun(call.run, call.mode));
      case "answer":
        return codeOf(gateway.answer(call.run, call.request, { content: call.text }));
      case "release":
        // In the object: what is settled outside continues outside, where the object's storage is out of reach.
        await runInDurableObject(team.stub, () => this.gate.release(call.text, call.fails));
        return "ok";
    }
  }

  /** What clients can see. */
  async view(): Promise<View> {
    const { gateway } = this.team;
    const rest = {
      saved: this.saved && textsOf(this.saved),
      forks: this.#forks.map((said) => JSON.stringify(said)).toSorted(),
      held: this.gate.held,
    };
    const info = await gateway.team();
    if (!info.ok) return { team: null, ...rest };
    const { status, turn, component_version, active_run } = info.value;
    const runs = value(await gateway.runs({ limit: 200 })).runs;
    return {
      team: {
        status,
        turn,
        version: component_version,
        runs: runs.map((run) => run.status).toReversed(),
        said: textsOf(value(await gateway.saveState())),
        asks: active_run === null ? false : runs[0]!.requests.length > 0,
      },
      ...rest,
    };
  }

  /** Ids of the latest run, and of the one before. */
  async runs(): Promise<string[]> {
    const page = await this.team.gateway.runs({ limit: 2 });
    return page.ok ? page.value.runs.map(({ id }) => id) : [];
  }

  async openRequest(): Promise<string | undefined> {
    const [run] = await this.runs();
    if (run === undefined) return undefined;
    const requests = await this.team.gateway.requests(run);
    return requests.ok ? requests.value[0]?.id : undefined;
  }

  async #fork(turn: number | null): Promise<string> {
    const fork = new TestTeam();
    const forked = await this.team.gateway.fork({ id: fork.id, turn });
    if (!forked.ok) return forked.problem.code;
    this.#forks.push(textsOf(value(await fork.gateway.saveState())));
    return "ok";
  }

  #component(): ComponentModel {
    const human = { provider: "UserProxyAgent", config: { name: "human" } };
    const team = roundRobin([this.#worker, human], null);
    const description = `Number ${++this.#versions}.`;
    return { ...team, label: "unhurried", config: { ...team.config, description } };
  }
}

async function codeOf(result: Promise<Result<unknown>>): Promise<string> {
  const { ok, problem } = (await result) as { ok: boolean; problem?: { code: string } };
  return ok ? "ok" : (problem?.code ?? "");
}

/** The chat messages of a saved state. */
export function textsOf(state: JsonObject): unknown[] {
  const { agent_states } = state as {
    agent_states: { [name: string]: { message_thread: Message[] } };
  };
  return chatTexts(agent_states["RoundRobinGroupChatManager"]?.message_thread ?? []);
}

export function chatTexts(messages: readonly Message[]): unknown[] {
  return messages.flatMap((message) => (message.type === "TextMessage" ? [message.content] : []));
}
