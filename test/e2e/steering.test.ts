import { expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../support/http-app.ts";
import { mentions, steeringStage, team } from "../support/steered-teams.ts";
import { TestWorker } from "../support/worker.ts";

const stage = steeringStage((settings) => TestWorker.start(settings));
const { teams } = stage;

test("a model call of which nothing has arrived is cut and asked again with the message", async () => {
  const started = await teams.start(teams.assistant("writer"));
  const first = await stage.model.request(1);
  const id = await teams.steer(started, "Make it short.");
  const second = await stage.model.request(2);
  await first.closed;
  expect(second.texts).toEqual(["You are writer.", "Begin.", "Make it short."]);
  second.end("Short.");
  const run = await teams.finished(started);
  expect(run.status, JSON.stringify(run.error)).toBe("completed");
  expect(run.usage.prompt_tokens).toBeGreaterThan(10);
  expect(Object.values(run.models)).toEqual([
    expect.objectContaining({
      completion_tokens: 5,
      estimated_tokens: run.usage.prompt_tokens - 10,
    }),
  ]);
  const messages = await teams.log(started.team);
  expect(messages.map(({ content }) => content)).toEqual(["Begin.", "Make it short.", "Short."]);
  expect(messages[1]).toMatchObject({ id, source: "user", metadata: { steering: "true" } });
  expect(stage.model.requests).toHaveLength(2);
});

test("a streaming call finishes, and one more turn reads the message", async () => {
  const started = await teams.start(teams.assistant("writer"));
  const first = await stage.model.request(1);
  first.begin("Once upon ");
  await teams.shown(started);
  await teams.steer(started, "Make it short.");
  first.end("a time.");
  const second = await stage.model.request(2);
  expect(second.texts).toEqual([
    "You are writer.",
    "Begin.",
    "Once upon a time.",
    "Make it short.",
  ]);
  second.end("Short.");
  const run = await teams.finished(started);
  expect(run.status).toBe("completed");
  const contents = (await teams.log(started.team)).map(({ content }) => content);
  expect(contents).toEqual(["Begin.", "Make it short.", "Once upon a time.", "Short."]);
});

test("a team's end waits for an unread message: the next speaker reads it", async () => {
  const started = await teams.start(
    team("RoundRobinGroupChat", {
      participants: [teams.assistant("writer"), teams.assistant("critic")],
      termination_condition: mentions("DONE"),
    }),
  );
  const first = await stage.model.request(1);
  first.begin("It is ");
  await teams.shown(started);
  await teams.steer(started, "I say DONE, too.");
  first.end("DONE.");
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are critic.", "Begin.", "It is DONE.", "I say DONE, too."]);
  second.end("Now it is DONE.");
  const run = await teams.finished(started);
  expect(run.stop_reason).toBe("Text 'DONE' mentioned");
  expect(stage.model.requests).toHaveLength(2);
});

test("a message to one agent stands in the thread, and only its context gets it", async () => {
  const started = await teams.start(
    team("RoundRobinGroupChat", {
      participants: [
        teams.assistant("writer"),
        teams.assistant("critic"),
        teams.assistant("editor"),
      ],
      termination_condition: mentions("DONE"),
    }),
  );
  const first = await stage.model.request(1);
  first.begin("It is ");
  await teams.shown(started);
  await teams.steer(started, "Check the names.", { to: "editor" });
  first.end("DONE.");
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are editor.", "Begin.", "It is DONE.", "Check the names."]);
  second.end("Checked.");
  const third = await stage.model.request(3);
  expect(third.texts).toEqual(["You are critic.", "Begin.", "It is DONE.", "Checked."]);
  third.end("DONE.");
  expect((await teams.finished(started)).status).toBe("completed");
});

test("a selector is asked again with the message, and its agents hear it", async () => {
  const started = await teams.start(
    team("SelectorGroupChat", {
      participants: [teams.assistant("writer"), teams.assistant("critic")],
      model_client: stage.model.client(),
      termination_condition: mentions("DONE"),
    }),
  );
  const choice = await stage.model.request(1);
  await teams.steer(started, "Let the critic speak.");
  const again = await stage.model.request(2);
  await choice.closed;
  expect(again.texts.join("\n")).toContain("user: Let the critic speak.");
  again.end("critic");
  const spoken = await stage.model.request(3);
  expect(spoken.texts).toEqual(["You are critic.", "Begin.", "Let the critic speak."]);
  spoken.end("DONE");
  expect((await teams.finished(started)).status).toBe("completed");
});

const handoff = (name: string): object => ({ target: name });

test("a swarm that has handed over to the user continues with the message", async () => {
  const started = await teams.start(
    team("Swarm", {
      participants: [
        teams.assistant("desk", { handoffs: [handoff("user")] }),
        teams.assistant("clerk"),
      ],
      termination_condition: team("OrTerminationCondition", {
        conditions: [team("HandoffTermination", { target: "user" }), mentions("DONE")],
      }),
    }),
  );
  const first = await stage.model.request(1);
  first.begin("I ");
  await teams.shown(started);
  await teams.steer(started, "My name is Ada.");
  first.call("transfer_to_user");
  const second = await stage.model.request(2);
  expect(second.texts.at(-1)).toBe("My name is Ada.");
  second.end("DONE");
  expect((await teams.finished(started)).stop_reason).toBe("Text 'DONE' mentioned");
});

const graph = (names: readonly string[]): object => ({
  nodes: Object.fromEntries(
    names.map((name, index) => [
      name,
      {
        name,
        edges: names.slice(index + 1, index + 2).map((target) => ({ target })),
        activation: "all",
      },
    ]),
  ),
});

test("the next node of a graph hears the message, and the last node of a complete graph reads it", async () => {
  const started = await teams.start(
    team("GraphFlow", {
      participants: [teams.assistant("first"), teams.assistant("last")],
      graph: graph(["first", "last"]),
    }),
  );
  const one = await stage.model.request(1);
  one.begin("One");
  await teams.shown(started);
  await teams.steer(started, "Count on.");
  one.end(".");
  const two = await stage.model.request(2);
  expect(two.texts).toEqual(["You are last.", "Begin.", "One.", "Count on."]);
  two.begin("Two");
  await teams.shown(started, "Two");
  await teams.steer(started, "And on.");
  two.end(".");
  const three = await stage.model.request(3);
  expect(three.texts).toEqual([...two.texts, "Two.", "And on."]);
  three.end("Three.");
  const run = await teams.finished(started);
  expect(run.stop_reason).toBe("Digraph execution is complete");
  expect(stage.model.requests).toHaveLength(3);
});

const ledger = (satisfied: boolean): string =>
  JSON.stringify(
    Object.fromEntries(
      [
        ["is_request_satisfied", satisfied],
        ["is_progress_being_made", true],
        ["is_in_loop", false],
        ["instruction_or_question", "Write."],
        ["next_speaker", "writer"],
      ].map(([name, answer]) => [name, { reason: "So.", answer }]),
    ),
  );

test("the next ledger of an orchestrator sees the message, also after the final answer", async () => {
  const started = await teams.start(
    team("MagenticOneGroupChat", {
      participants: [teams.assistant("writer")],
      model_client: stage.model.client(),
    }),
  );
  (await stage.model.request(1)).end("Facts.");
  await teams.steer(started, "In German.");
  // The plan is cut, if it was asked before the message came, and asked again with it.
  const seen = await teams.until((texts) => texts.join("\n").includes("In German."));
  expect(seen.texts.join("\n")).toContain("In German.");
  for (let number = stage.model.requests.indexOf(seen) + 1; ; number++) {
    const { texts } = await stage.model.request(number);
    const asked = texts.join("\n");
    if (asked.includes("is_request_satisfied")) break;
    (await stage.model.request(number)).end("A plan.");
  }
  const { length } = stage.model.requests;
  const first = await stage.model.request(length);
  expect(first.texts.join("\n")).toContain("In German.");
  first.end(ledger(true));
  const final = await stage.model.request(length + 1);
  final.begin("The");
  await teams.steer(started, "And shorter.");
  final.end(" end.");
  const second = await stage.model.request(length + 2);
  expect(second.texts.join("\n")).toContain("And shorter.");
  second.end(ledger(true));
  (await stage.model.request(length + 3)).end("End.");
  expect((await teams.finished(started)).status).toBe("completed");
});

test("an agent in a nested team reads what is sent to it by its path", async () => {
  const inner = (name: string, speakers: readonly string[]): object =>
    team("RoundRobinGroupChat", {
      name,
      participants: speakers.map((speaker) => teams.assistant(speaker)),
      termination_condition: mentions("OVER"),
    });
  const started = await teams.start(
    team("RoundRobinGroupChat", {
      participants: [inner("outer", ["reader", "helper"]), inner("other", ["helper"])],
      termination_condition: mentions("DONE"),
    }),
  );
  const first = await stage.model.request(1);
  first.begin("OVER and");
  await teams.shown(started);
  for (const [to, code] of [
    ["stranger", "there is no agent"],
    ["helper", "several agents"],
  ] as const) {
    const refused = await teams.send(started, "Hello?", { to });
    expect(refused.status).toBe(422);
    const { errors } = (await refused.json()) as { errors: { path: string; message: string }[] };
    expect(errors).toEqual([{ path: "to", message: expect.stringContaining(code) as string }]);
  }
  await teams.steer(started, "Help them.", { to: "outer/helper" });
  first.end(" DONE");
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are helper.", "Begin.", "OVER and DONE", "Help them."]);
  second.end("OVER, DONE");
  expect((await teams.finished(started)).status).toBe("completed");
  expect(stage.model.requests).toHaveLength(2);
});

test("fifty messages in a second are read in order, once each", async () => {
  const started = await teams.start(teams.assistant("writer"));
  const first = await stage.model.request(1);
  first.begin("Once");
  await teams.shown(started);
  const texts = Array.from({ length: 50 }, (_, index) => `Message ${index}.`);
  for (const text of texts) await teams.steer(started, text);
  first.end(".");
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are writer.", "Begin.", "Once.", ...texts]);
  second.end("All read.");
  await teams.finished(started);
  const read = (await teams.log(started.team)).filter(({ content }) =>
    content.startsWith("Message"),
  );
  expect(read.map(({ content }) => content)).toEqual(texts);
});

test("a burst of messages cuts a call that has not answered a few times only", async () => {
  const started = await teams.start(teams.assistant("writer"));
  await stage.model.request(1);
  const texts = Array.from({ length: 20 }, (_, index) => `Message ${index}.`);
  for (const text of texts) await teams.steer(started, text);
  const last = await teams.until((seen) => seen.includes("Message 19."));
  expect(last.texts).toEqual(["You are writer.", "Begin.", ...texts]);
  last.end("All read.");
  expect((await teams.finished(started)).status).toBe("completed");
  expect(stage.model.requests.length).toBeLessThan(8);
});

test("no turn follows at a limit: the next run reads the message first", async () => {
  const started = await teams.start(
    team("RoundRobinGroupChat", {
      participants: [teams.assistant("writer")],
      max_turns: 1,
    }),
  );
  const first = await stage.model.request(1);
  first.begin("Once");
  await teams.shown(started);
  await teams.steer(started, "Shorter.");
  first.end(".");
  const run = await teams.finished(started);
  expect(run.stop_reason).toBe("Maximum number of turns 1 reached.");
  const late = await teams.send(started, "Too late.");
  expect(late.status).toBe(409);
  expect(await late.json()).toMatchObject({ code: "run_ended" });
  const next = await stage.worker.fetch(
    `/v1/teams/${started.team}/runs`,
    jsonInit({ task: "Again." }),
  );
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are writer.", "Begin.", "Once.", "Shorter.", "Again."]);
  second.end("Twice.");
  await teams.finished({ ...started, run: ((await next.json()) as RunInfo).id });
});

test("a message that a cancelled run has not read is read by the next one, and stays in the log", async () => {
  const started = await teams.start(teams.assistant("writer"));
  const first = await stage.model.request(1);
  first.begin("Once");
  await teams.shown(started);
  const id = await teams.steer(started, "Shorter.");
  await stage.worker.fetch(
    `/v1/teams/${started.team}/runs/${started.run}/stop`,
    jsonInit({ mode: "now" }),
  );
  expect((await teams.log(started.team)).map((message) => message.id)).toContain(id);
  const next = await stage.worker.fetch(
    `/v1/teams/${started.team}/runs`,
    jsonInit({ task: "Again." }),
  );
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are writer.", "Shorter.", "Again."]);
  second.end("Twice.");
  await teams.finished({ ...started, run: ((await next.json()) as RunInfo).id });
  expect((await teams.log(started.team)).filter((message) => message.id === id)).toHaveLength(1);
});

test("the same key sends a message once", async () => {
  const started = await teams.start(teams.assistant("writer"));
  await stage.model.request(1);
  const [one, two] = [
    await teams.send(started, "Hi.", {}, "k"),
    await teams.send(started, "Hi.", {}, "k"),
  ];
  expect(await two.json()).toEqual(await one.json());
  const other = await teams.send(started, "Other.", {}, "k");
  expect(await other.json()).toMatchObject({ code: "idempotency_mismatch" });
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are writer.", "Begin.", "Hi."]);
  second.end("Hello.");
  await teams.finished(started);
  const again = await teams.send(started, "Hi.", {}, "k");
  expect(again.status).toBe(202);
});

test("a request for a run becomes a message into the active one", async () => {
  const id = await teams.create(teams.assistant("writer"));
  const ask = (body: object): Promise<Response> =>
    stage.worker.fetch(`/v1/teams/${id}/runs`, jsonInit({ on_conflict: "steer", ...body }));
  const first = (await (await ask({ task: "Begin.", metadata: { a: 1 } })).json()) as RunInfo;
  await stage.model.request(1);
  const refused = await ask({ task: "More.", max_total_tokens: 5, metadata: { a: 1 } });
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    code: "belongs_to_a_new_run",
    errors: [{ path: "max_total_tokens" }, { path: "metadata" }],
  });
  const steered = await ask({ task: "Shorter." });
  expect(steered.status).toBe(202);
  expect(((await steered.json()) as RunInfo).id).toBe(first.id);
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are writer.", "Begin.", "Shorter."]);
  second.end("Short.");
  await teams.finished({ team: id, run: first.id });
});

test("a tool under way finishes, and the next call of the model has the message", async () => {
  const started = await teams.start(
    teams.assistant("writer", {
      reflect_on_tool_use: true,
      tools: [
        {
          provider: "HttpTool",
          config: {
            name: "look",
            description: "Looks.",
            scheme: "http",
            host: "127.0.0.1",
            port: Number(new URL(stage.model.origin).port),
            path: "/slow",
            method: "GET",
            headers: {},
            json_schema: { type: "object", properties: {} },
          },
        },
      ],
    }),
  );
  (await stage.model.request(1)).call("look");
  const tool = await stage.model.request(2);
  await teams.steer(started, "In one word.");
  tool.end("Seen.");
  const third = await stage.model.request(3);
  expect(third.texts.at(-1)).toBe("In one word.");
  expect(third.texts.join()).toContain("Seen.");
  third.end("Yes.");
  const run = await teams.finished(started);
  expect(run.status).toBe("completed");
  expect(stage.model.requests).toHaveLength(3);
});

test("a queued run reads the message at its start, and a fork has it where it was", async () => {
  const started = await teams.start(teams.assistant("writer"));
  const first = await stage.model.request(1);
  const queued = await stage.worker.fetch(
    `/v1/teams/${started.team}/runs`,
    jsonInit({ task: "Next.", on_conflict: "queue" }),
  );
  const later = { ...started, run: ((await queued.json()) as RunInfo).id };
  const id = await teams.steer(later, "Politely.");
  first.end("Done.");
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are writer.", "Begin.", "Done.", "Next.", "Politely."]);
  second.end("Please.");
  await teams.finished(later);
  const fork = await stage.worker.fetch(`/v1/teams/${started.team}/fork`, jsonInit({}));
  const copy = { team: ((await fork.json()) as { id: string }).id, run: "" };
  const ids = (await teams.log(later.team)).map((message) => message.id);
  expect(ids.filter((one) => one === id)).toHaveLength(1);
  expect((await teams.log(copy.team)).map((message) => message.id)).toEqual(ids);
  await stage.worker.fetch(`/v1/teams/${copy.team}/runs`, jsonInit({ task: "Go." }));
  const third = await stage.model.request(3);
  expect(third.texts).toEqual([...second.texts, "Please.", "Go."]);
  third.end("Gone.");
});
