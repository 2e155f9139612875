import { describe, expect, test } from "vitest";
import type { HeldRequest } from "../support/held-model.ts";
import { mentions, steeringStage, type Started, team } from "../support/steered-teams.ts";
import { TestWorker } from "../support/worker.ts";

// Messages that an agent has read in the middle of its turn, by the kind of its team; and teams inside agents.

const stage = steeringStage((settings) => TestWorker.start(settings));
const { teams } = stage;

describe("a message that a speaker has read in the middle of its turn", () => {
  /** Sends a message while this request of a speaker is held. Returns the request that has it, which follows. */
  async function cut(started: Started, number: number): Promise<HeldRequest> {
    const request = await stage.model.request(number);
    await teams.steer(started, "All of you.");
    await request.closed;
    const again = await stage.model.request(number + 1);
    expect(again.texts.at(-1)).toBe("All of you.");
    return again;
  }

  test("is read by the selector and the agent that it chooses, before the run ends", async () => {
    const started = await teams.start(
      team("SelectorGroupChat", {
        participants: ["writer", "critic", "editor"].map((name) => teams.assistant(name)),
        model_client: stage.model.client(),
        termination_condition: mentions("DONE"),
      }),
    );
    (await stage.model.request(1)).end("writer");
    (await cut(started, 2)).end("DONE");
    const choice = await stage.model.request(4);
    expect(choice.texts.join("\n")).toContain("user: All of you.");
    choice.end("critic");
    const next = await stage.model.request(5);
    expect(next.texts).toEqual(["You are critic.", "Begin.", "All of you.", "DONE"]);
    next.end("DONE, too");
    expect((await teams.finished(started)).status).toBe("completed");
    expect(stage.model.requests).toHaveLength(5);
  });

  const graph = (names: readonly string[]): object => ({
    nodes: Object.fromEntries(
      names.map((name, index) => {
        const edges = names.slice(index + 1, index + 2).map((target) => ({ target }));
        return [name, { name, edges, activation: "all" }];
      }),
    ),
  });

  test("is read by the next node of a graph, and asks its last node for nothing more", async () => {
    const started = await teams.start(
      team("GraphFlow", {
        participants: [teams.assistant("first"), teams.assistant("last")],
        graph: graph(["first", "last"]),
      }),
    );
    (await cut(started, 1)).end("One.");
    const next = await stage.model.request(3);
    expect(next.texts).toEqual(["You are last.", "Begin.", "All of you.", "One."]);
    await teams.steer(started, "And you.");
    await next.closed;
    const again = await stage.model.request(4);
    expect(again.texts).toEqual([...next.texts, "And you."]);
    again.end("Two.");
    const run = await teams.finished(started);
    expect(run.stop_reason).toBe("Digraph execution is complete");
    expect(stage.model.requests).toHaveLength(4);
  });

  const ledger = (satisfied: boolean): string =>
    JSON.stringify({
      is_request_satisfied: { reason: "So.", answer: satisfied },
      is_progress_being_made: { reason: "So.", answer: true },
      is_in_loop: { reason: "So.", answer: false },
      instruction_or_question: { reason: "So.", answer: "Write." },
      next_speaker: { reason: "So.", answer: "writer" },
    });

  test("is read by the orchestrator in its next ledger", async () => {
    const started = await teams.start(
      team("MagenticOneGroupChat", {
        participants: [teams.assistant("writer")],
        model_client: stage.model.client(),
      }),
    );
    (await stage.model.request(1)).end("Facts.");
    (await stage.model.request(2)).end("A plan.");
    (await stage.model.request(3)).end(ledger(false));
    (await cut(started, 4)).end("Written.");
    const next = await stage.model.request(6);
    expect(next.texts.join("\n")).toContain("All of you.");
    next.end(ledger(true));
    (await stage.model.request(7)).end("The end.");
    expect((await teams.finished(started)).status).toBe("completed");
    expect(stage.model.requests).toHaveLength(7);
    const said = await teams.said(started.team);
    expect(said.filter((content) => content === "All of you.")).toHaveLength(1);
  });
});

test("an agent of a team inside an agent reads what is sent to it by its path", async () => {
  const started = await teams.start(
    team("RoundRobinGroupChat", {
      participants: [
        team("SocietyOfMindAgent", {
          name: "outer",
          description: "A society.",
          model_client: stage.model.client(),
          team: team("RoundRobinGroupChat", {
            participants: [teams.assistant("inner"), teams.assistant("helper")],
            max_turns: 2,
          }),
        }),
        teams.assistant("closer"),
      ],
      max_turns: 2,
    }),
  );
  const first = await stage.model.request(1);
  const id = await teams.steer(started, "Only you.", { to: "outer/inner" });
  await first.closed;
  const again = await stage.model.request(2);
  expect(again.texts).toEqual(["You are inner.", "Begin.", "Only you."]);
  again.end("One.");
  const helper = await stage.model.request(3);
  expect(helper.texts).toEqual(["You are helper.", "Begin.", "One."]);
  helper.end("Two.");
  (await stage.model.request(4)).end("Together.");
  const closer = await stage.model.request(5);
  expect(closer.texts).toEqual(["You are closer.", "Begin.", "Together."]);
  closer.end("The end.");
  expect((await teams.finished(started)).status).toBe("completed");
  expect(stage.model.requests).toHaveLength(5);
  const log = await teams.log(started.team);
  expect(log.filter((message) => message.id === id)).toHaveLength(1);
  const stranger = await teams.send(await teams.again(started.team, "More."), "?", {
    to: "outer/stranger",
  });
  expect(stranger.status).toBe(422);
});
