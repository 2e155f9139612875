import { expect, test } from "vitest";
import { AssistantAgent, MagenticOneGroupChat, toText } from "troupe";
import type { JsonObject, Message, Progress, TurnContext } from "troupe";
import { StateTree } from "#core/state/state-tree.ts";
import {
  ScriptedChatCompletionClient,
  type ScriptedRequest,
} from "#testing/scripted-chat-completion-client.ts";
import { text } from "../../support/agents.ts";
import { ledger } from "../../support/ledger.ts";
import { type Interruption, outcome, RecordingHost } from "../../support/recording-host.ts";

/** What the leading model answers: a ledger that cannot be followed, a stall, after the new plan one step, the end. */
function answer({ messages, options }: ScriptedRequest): string {
  const step = options.idempotencyKey ?? "";
  const [first] = messages;
  if (step.endsWith("facts")) return `facts of ${messages.length}`;
  if (step.endsWith("plan")) return `plan of ${messages.length}`;
  if (step.endsWith("final_answer")) return "the end";
  if (first?.content === "facts of 1") {
    return step.endsWith(":0") ? "unfit" : ledger({ progress: false });
  }
  return ledger({ satisfied: messages.length > 2, say: "a step" });
}

/** A fresh team, as after a restart. `asked` gets the keys of all requests to models. */
function makeTeam(asked: string[]): MagenticOneGroupChat {
  const client = (reply: (request: ScriptedRequest) => string) =>
    new ScriptedChatCompletionClient(
      Array.from({ length: 20 }, () => (request: ScriptedRequest) => {
        asked.push(request.options.idempotencyKey ?? "");
        return reply(request);
      }),
    );
  return new MagenticOneGroupChat(
    [new AssistantAgent({ name: "ann", modelClient: client(() => "a result") })],
    {
      modelClient: client(answer),
      maxStalls: 1,
      finalAnswerPrompt: "answer?",
      orchestratorPrompts: { taskLedgerFull: "{facts}" },
    },
  );
}

interface Run {
  items: Message[];
  asked: string[];
  /** The team's state after each turn. */
  states: JsonObject[];
}

/**
 * A run whose turns are tried with each interruption and then without, always by a new team made of the state after
 * the turn before.
 */
async function runWith(interruptions: readonly Interruption[]): Promise<Run> {
  const run: Run = { items: [], asked: [], states: [makeTeam([]).saveState()] };
  const inOneTurn = async (
    turn: (team: MagenticOneGroupChat, ctx: TurnContext) => AsyncGenerator<Message, Progress, void>,
  ): Promise<Progress> => {
    const journal = new RecordingHost();
    for (const interruption of [...interruptions, {}]) {
      const team = makeTeam(run.asked);
      team.loadState(run.states.at(-1) ?? {});
      const { items, result } = await outcome(turn(team, journal.attempt(interruption)));
      if (result === undefined) continue;
      run.items.push(...items);
      run.states.push(team.saveState());
      return result;
    }
    throw new Error("the turn never ended");
  };
  let progress = await inOneTurn((team, ctx) =>
    team.begin({ messages: [text("user", "go", ctx)], outputTaskMessages: true }, ctx),
  );
  while (!progress.done) progress = await inOneTurn((team, ctx) => team.turn(ctx));
  return run;
}

/** A run without its times: a request that is made again takes its time again. */
function timeless(run: Run): unknown {
  return JSON.parse(
    JSON.stringify(run, (key, value: unknown) => (key === "created_at" ? "" : value)),
  );
}

test("a run plans, plans again and answers, each plan in a turn of its own", async () => {
  const { items, states, asked } = await runWith([]);
  expect(items.map(toText)).toEqual([
    "go",
    "facts of 1",
    "facts of 2",
    "a step",
    "a result",
    "the end",
  ]);
  const next = states.map(
    ({ agent_states }) =>
      (agent_states as { [name: string]: { troupe: { next: string } } })["MagenticOneOrchestrator"]
        ?.troupe.next,
  );
  expect(next).toEqual(["task", "plan", "work", "replan", "work", "work", "task"]);
  expect(asked.map((key) => key.split("/").slice(-2).join("/"))).toEqual([
    "manager/model:facts",
    "manager/model:plan",
    "manager/model:ledger:0",
    "manager/model:ledger:1",
    "manager/model:facts",
    "manager/model:plan",
    "manager/model:ledger:0",
    "speaker:ann/model:0",
    "manager/model:ledger:0",
    "manager/model:final_answer",
  ]);
});

test("a run that is interrupted after every step ends the same, and no model is called twice", async () => {
  const calm = await runWith([]);
  const oneStepEach = Array.from({ length: 3 }, () => ({ afterSteps: 1 }));
  expect(await runWith(oneStepEach)).toEqual(calm);
});

test.each(["facts", "plan", "ledger:0", "ledger:1", "final_answer"])(
  "a run that is cut off in model:%s repeats that request and nothing else",
  async (step) => {
    const calm = await runWith([]);
    const during = `manager/model:${step}`;
    const cut = await runWith([{ during }]);
    expect(timeless({ ...cut, asked: [] })).toEqual(timeless({ ...calm, asked: [] }));
    const lost = calm.asked.filter((key) => key.endsWith(during));
    expect(lost).not.toEqual([]);
    expect(cut.asked.toSorted()).toEqual([...calm.asked, ...lost].toSorted());
  },
);

test("a turn stores counters, and the task ledger only when it was written", async () => {
  const team = makeTeam([]);
  const tree = new StateTree(team);
  const changed = async (turn: (ctx: TurnContext) => AsyncGenerator<Message, Progress, void>) => {
    await outcome(turn(new RecordingHost().attempt()));
    const { heads } = tree.changes();
    tree.mark();
    return heads.map(({ path }) => path);
  };
  const ledgerPath = "MagenticOneOrchestrator/task_ledger";
  const begin = (ctx: TurnContext) =>
    team.begin({ messages: [text("user", "go", ctx)], outputTaskMessages: true }, ctx);
  expect(await changed(begin)).toEqual(["", ledgerPath]);
  expect(await changed((ctx) => team.turn(ctx))).toEqual(["", ledgerPath]);
  expect(await changed((ctx) => team.turn(ctx))).toEqual([""]);
});
