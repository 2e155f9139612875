import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pdfOf } from "../../../support/pdf.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { HUMAN, inTurn, newTeam, writer } from "../support/teams.ts";
import { careful } from "../../../../console/test/support/components.ts";
import { all, LOCATE, runsOf, type Stage, startStage, teamOf } from "./support/stage.ts";

type Event = OpenAI.Responses.ResponseStreamEvent;
type Body = OpenAI.Responses.Response & { troupe: { requests?: { id: string }[] } };

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let stage: Stage;
let count = 0;
let id: string;
let model: string;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(() => {
  id = `team${++count}`;
  model = `team:${id}`;
});

const tools = [{ type: "function" as const, strict: true, ...LOCATE }];

function numbersOf(events: readonly Event[]): number[] {
  return events.map((event) => event.sequence_number);
}

function textOf(events: readonly Event[]): string {
  return events
    .map((event) => (event.type === "response.output_text.delta" ? event.delta : ""))
    .join("");
}

describe("a response", () => {
  test("is a run of the team, and can be read again", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const response = await openai.responses.create({
      model,
      instructions: "Count.",
      input: "Hello.",
      metadata: { colour: "blue" },
    });
    const [run] = await runsOf(worker, id);
    expect(response).toMatchObject({
      id: `resp_${id}.${run?.id}`,
      object: "response",
      status: "completed",
      model,
      conversation: { id },
      metadata: { colour: "blue" },
      previous_response_id: null,
      error: null,
      output: [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          phase: "final_answer",
          content: [{ type: "output_text", text: "one", annotations: [] }],
        },
      ],
    });
    expect(response.output_text).toBe("one");
    expect(run?.task).toMatchObject([
      { source: "system", content: "Count." },
      { source: "user", content: "Hello." },
    ]);
    const { completed_at, ...again } = await openai.responses.retrieve(response.id);
    expect(completed_at).toBeGreaterThanOrEqual(response.created_at);
    const { completed_at: _, ...first } = response;
    expect(again).toEqual(first);
    expect((await openai.responses.inputItems.list(response.id)).data).toMatchObject([
      { role: "user", content: [{ type: "input_text", text: "Hello." }] },
      { role: "system", content: [{ type: "input_text", text: "Count." }] },
    ]);
  });

  test("is streamed and numbered, and continues at the event where its client disconnected", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const events = await all(
      await openai.responses.create({ model, input: "Write.", stream: true }),
    );
    expect(events.map(({ type }) => type).filter((type, n, list) => type !== list[n - 1])).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(textOf(events)).toBe("Four little words here.");
    const numbers = numbersOf(events);
    expect(numbers[0]).toBe(0);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);
    const last = events.at(-1);
    if (last?.type !== "response.completed") throw new Error("it is not completed");
    for (const [index, { sequence_number }] of events.entries()) {
      const rest = await all(
        await openai.responses.retrieve(last.response.id, {
          stream: true,
          starting_after: sequence_number,
        }),
      );
      const missing = events.slice(index + 1);
      // The run is shown as it is when the stream is opened.
      const shown = (list: readonly Event[]) =>
        list.map((event) => ("response" in event ? { ...event, response: {} } : event));
      expect(shown(rest)).toEqual(shown(missing));
    }
  });

  test("is accepted by the client's streaming helper, also when it is resumed", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const texts: string[] = [];
    const stream = openai.responses
      .stream({ model, input: "Write." })
      .on("response.output_text.delta", ({ snapshot }) => texts.push(snapshot));
    const response = await stream.finalResponse();
    expect(response.output_text).toBe("Four little words here.");
    expect(response.usage?.total_tokens).toBe(5);
    expect(texts.at(-1)).toBe("Four little words here.");
    expect(texts.length).toBeGreaterThan(2);
    const numbers: [number, string][] = [];
    const whole = openai.responses.stream({ response_id: response.id });
    whole.on("response.output_text.delta", ({ sequence_number, delta }) =>
      numbers.push([sequence_number, delta]),
    );
    expect((await whole.finalResponse()).output).toEqual(response.output);
    expect(numbers.map(([, delta]) => delta)).toEqual(["Four", " little", " words", " here."]);
    for (const [index, [starting_after]] of numbers.entries()) {
      const resumed = openai.responses.stream({ response_id: response.id, starting_after });
      const rest: string[] = [];
      resumed.on("response.output_text.delta", ({ delta }) => rest.push(delta));
      expect((await resumed.finalResponse()).output).toEqual(response.output);
      expect(rest).toEqual(numbers.slice(index + 1).map(([, delta]) => delta));
    }
  });

  test.each(["final", "all"])("streams the answer of a model that reasons (%s)", async (show) => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const request = { model, input: "Think.", troupe: { show } };
    const deltas: string[] = [];
    const stream = openai.responses.stream(request);
    stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
    const response = await stream.finalResponse();
    expect(deltas.join("")).toBe("Seven.");
    expect(response.output_text).toBe("Seven.");
    const thoughts = response.output.filter(({ type }) => type === "reasoning");
    expect(thoughts).toHaveLength(show === "all" ? 1 : 0);
  });

  test("shows all agents as reasoning on request", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: inTurn(writer({ name: "first" }), writer()) });
    const request = { model, input: "Write.", troupe: { show: "all" } };
    const stream = openai.responses.stream(request);
    const response = await stream.finalResponse();
    expect(response.output).toMatchObject([
      { type: "reasoning", content: [{ text: "Four little words here." }] },
      { type: "reasoning", content: [{ text: "Four little words here." }] },
      { type: "message", content: [{ text: "Four little words here." }] },
    ]);
    expect(response.output_text).toBe("Four little words here.");
    const again = await openai.responses.retrieve(response.id);
    expect(again.output).toMatchObject([{}, {}, { type: "message" }]);
  });

  test("returns at once in the background, and can be waited for and cancelled", async () => {
    const { worker, openai, model: fake } = stage;
    await newTeam(worker, { id, component: writer() });
    fake.rules.hold("slow");
    const begin = () =>
      openai.responses.create({ model, input: "Write slowly.", background: true });
    const first = await begin();
    expect(first).toMatchObject({ status: "in_progress", background: true, output: [] });
    await expect(begin()).rejects.toMatchObject({ status: 409, code: "team_busy" });
    const cancelled = await openai.responses.cancel(first.id);
    expect(cancelled.status).toBe("cancelled");
    const ended = await all(await openai.responses.retrieve(first.id, { stream: true }));
    expect(ended.at(-1)).toMatchObject({ response: { status: "cancelled" } });
    expect((await openai.responses.cancel(first.id)).status).toBe("cancelled");
    const second = await begin();
    const stream = await openai.responses.retrieve(second.id, { stream: true });
    fake.release("slow");
    expect((await all(stream)).at(-1)).toMatchObject({
      type: "response.completed",
      response: { id: second.id, status: "completed" },
    });
    expect((await openai.responses.retrieve(second.id)).output_text).toBe("At last.");
  });

  test("has all fields of Open Responses from the first event on, and names parameters without effect", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const tool = { type: "function" as const, name: "look", parameters: null, strict: null };
    const request = { model, input: "Write.", tools: [tool], temperature: 0.2, store: false };
    const events = await all(await openai.responses.create({ ...request, stream: true, top_p: 1 }));
    const [created] = events;
    const last = events.at(-1);
    if (created?.type !== "response.created") throw new Error("it was not created");
    if (last?.type !== "response.completed") throw new Error("it was not completed");
    expect(created.response.usage).toBeNull();
    expect(last.response.usage).toMatchObject({ total_tokens: expect.any(Number) });
    const again = await openai.responses.retrieve(last.response.id);
    for (const response of [created.response, last.response, again]) {
      // What the specification wants to be there and of which type.
      expect(response).toMatchObject({
        object: "response",
        incomplete_details: null,
        previous_response_id: null,
        instructions: null,
        error: null,
        tools: [{ type: "function", name: "look", parameters: null, strict: null }],
        tool_choice: "auto",
        truncation: "disabled",
        parallel_tool_calls: true,
        text: { format: { type: "text" } },
        top_p: expect.any(Number),
        presence_penalty: expect.any(Number),
        frequency_penalty: expect.any(Number),
        top_logprobs: expect.any(Number),
        temperature: expect.any(Number),
        reasoning: null,
        user: null,
        max_output_tokens: null,
        max_tool_calls: null,
        store: true,
        background: false,
        service_tier: "default",
        metadata: {},
        safety_identifier: null,
        prompt_cache_key: null,
      });
      expect(response).toHaveProperty("completed_at");
    }
    expect(last.response).toMatchObject({ troupe: { ignored: ["store", "temperature", "top_p"] } });
  });

  test("shows a team of a template the earlier messages, their authors and the files", async () => {
    const { worker, openai } = stage;
    const part = (data: string, type: string): string => `data:${type};base64,${data}`;
    const { conversation } = await openai.responses.create({
      model: "template:tools_assistant",
      input: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "My name is Ada." },
        { role: "assistant", phase: "commentary", content: "I note it." },
        { role: "assistant", phase: "final_answer", content: "Hello Ada." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is this?" },
            { type: "input_image", detail: "auto", image_url: part(PIXEL, "image/png") },
            {
              type: "input_file",
              filename: "title.pdf",
              file_data: part(pdfOf("The title").toString("base64"), "application/pdf"),
            },
          ],
        },
      ],
    });
    const [run] = await runsOf(worker, conversation!.id);
    expect(run?.task.map(({ source, content }) => [source, content])).toMatchObject([
      ["system", "Be brief."],
      ["user", "My name is Ada."],
      ["assistant", "I note it."],
      ["assistant", "Hello Ada."],
      ["user", ["What is this?", { data: PIXEL }, { name: "title.pdf" }]],
    ]);
  });

  test("is refused with a PDF that no reader accepts, by the name of the request's field", async () => {
    const { worker, openai } = stage;
    const model_client = {
      provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
      config: { model: "gpt-3.5-turbo" },
    };
    await newTeam(worker, { id, component: writer({ model_client }) });
    const file_data = `data:application/pdf;base64,${pdfOf("The title").toString("base64")}`;
    await expect(
      openai.responses.create({
        model,
        input: [
          { role: "user", content: [{ type: "input_file", filename: "title.pdf", file_data }] },
        ],
      }),
    ).rejects.toMatchObject({ status: 400, code: "no_extractor", param: "input" });
  });

  test("has an estimate before it is requested", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const tokensOf = (more: object = {}) =>
      openai.responses.inputTokens.count({ model, input: "Twenty characters ...", ...more });
    const { object, input_tokens } = await tokensOf();
    expect([object, input_tokens]).toEqual(["response.input_tokens", 6]);
    expect((await tokensOf({ instructions: "Four" })).input_tokens).toBe(7);
    await expect(tokensOf({ model: "team:none" })).rejects.toMatchObject({
      code: "model_not_found",
    });
    expect(await runsOf(worker, id)).toEqual([]);
  });

  test("contains the reason if it fails", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const error: unknown = await openai.responses
      .create({ model, input: "Fail." })
      .catch((problem: unknown) => problem);
    expect(error).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      code: "model_bad_request",
    });
    const [run] = await runsOf(worker, id);
    const failed = (await openai.responses.retrieve(`resp_${id}.${run?.id}`)) as Body;
    expect(failed).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: expect.stringContaining("No such thing.") },
      troupe: { error_code: expect.stringMatching(/^model_/) },
    });
    const events = await all(
      await openai.responses.create({ model, input: "Fail.", stream: true }),
    );
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed" },
    });
  });

  test("has its input in pages, and accepts the parameter include", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: writer() });
    const input = ["One.", "Two.", "Three."].map((content) => ({ role: "user" as const, content }));
    const include = ["message.output_text.logprobs" as const, "file_search_call.results" as const];
    const response = await openai.responses.create({ model, input, include });
    expect(response).toMatchObject({ troupe: { ignored: ["include"] } });
    const listed = async (query: OpenAI.Responses.InputItemListParams): Promise<unknown[]> => {
      const texts: unknown[] = [];
      for await (const item of openai.responses.inputItems.list(response.id, query)) {
        if (item.type === "message") texts.push(...item.content);
      }
      return texts.map((part) => (part as { text: string }).text);
    };
    expect(await listed({ limit: 1, order: "asc" })).toEqual(["One.", "Two.", "Three."]);
    expect(await listed({ limit: 2, include })).toEqual(["Three.", "Two.", "One."]);
    await expect(listed({ after: "msg_none" })).rejects.toMatchObject({
      status: 404,
      code: "item_not_found",
    });
    await expect(listed({ limit: 0 })).rejects.toMatchObject({ status: 400, param: "limit" });
    const again = await openai.responses.retrieve(response.id, { include });
    expect(again.output_text).toBe(response.output_text);
    const items = openai.conversations.items;
    expect((await items.list(id, { include, limit: 1 })).data).toHaveLength(1);
  });

  test("cannot be deleted if it is a team's, and one of a template is deleted with its team", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const response = await openai.responses.create({ model, input: "Hello." });
    await expect(openai.responses.delete(response.id)).rejects.toMatchObject({
      status: 405,
      code: "response_not_deletable",
    });
    const made = await openai.responses.create({
      model: "template:tools_assistant",
      input: "Hello.",
    });
    const team = made.conversation!.id;
    expect(await teamOf(worker, team)).toMatchObject({ status: "idle" });
    await openai.responses.delete(made.id);
    await expect(openai.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    expect((await worker.fetch(`/v1/teams/${team}`)).status).toBe(404);
  });
});

describe("a conversation", () => {
  test("continues after a response, in a fork when others came after it", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    const first = await openai.responses.create({ model, input: "Hello.", instructions: "Count." });
    const second = await openai.responses.create({
      model,
      input: "More.",
      instructions: "Count.",
      previous_response_id: first.id,
    });
    expect(second).toMatchObject({
      conversation: { id },
      previous_response_id: first.id,
      output_text: "three",
    });
    const [run] = await runsOf(worker, id);
    // The same instructions are not said again.
    expect(run?.task.map(({ content }) => content)).toEqual(["More."]);
    const other = await openai.responses.create({
      model,
      input: "Something else.",
      previous_response_id: first.id,
    });
    const fork = other.conversation!.id;
    expect(fork).not.toBe(id);
    expect(await teamOf(worker, fork)).toMatchObject({ forked_from: { team_id: id } });
    const third = await openai.responses.create({
      model,
      input: "More.",
      previous_response_id: other.id,
    });
    expect(third.conversation).toEqual({ id: fork });
    await expect(
      openai.responses.create({ model, input: "?", previous_response_id: "resp_a.b" }),
    ).rejects.toMatchObject({
      status: 404,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
  });

  test("is a team: that of a template continues with its id", async () => {
    const { worker, openai } = stage;
    const template = "template:tools_assistant";
    const first = await openai.responses.create({ model: template, input: "Hello." });
    const conversation = first.conversation!.id;
    const more = { model: template, input: "More.", conversation };
    const second = await openai.responses.create(more);
    expect(second.conversation).toEqual({ id: conversation });
    expect(await runsOf(worker, conversation)).toHaveLength(2);
    await newTeam(worker, { id, component: SAMPLE_COMPONENT });
    await expect(
      openai.responses.create({ model, input: "Hello.", conversation }),
    ).rejects.toMatchObject({ status: 400, param: "conversation" });
  });
});

describe("a response that waits", () => {
  test("has calls of the client's tools as function calls, answered by their outputs", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: inTurn(writer()) });
    const events = await all(
      await openai.responses.create({ model, input: "Where am I?", tools, stream: true }),
    );
    const types = events.map(({ type }) => type);
    // The item of the call, after that of what was said before it.
    expect(types.slice(types.lastIndexOf("response.output_item.added"))).toEqual([
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const end = events.at(-1);
    if (end?.type !== "response.completed") throw new Error("it is not completed");
    const asked = end.response;
    expect(asked.status).toBe("completed");
    const [said, call] = asked.output;
    expect(said).toMatchObject({ type: "message", phase: "commentary" });
    if (call?.type !== "function_call") throw new Error("it is not a call");
    expect(call).toMatchObject({ name: "locate", arguments: '{"precise":false}' });
    const output = {
      type: "function_call_output" as const,
      call_id: call.call_id,
      output: "Vienna",
    };
    const rest = await all(
      await openai.responses.create({
        model,
        tools,
        previous_response_id: asked.id,
        input: [output],
        stream: true,
      }),
    );
    const last = rest.at(-1);
    if (last?.type !== "response.completed") throw new Error("it is not completed");
    const { response } = last;
    expect(textOf(rest)).toBe("You are in Vienna.");
    expect(response.id).not.toBe(asked.id);
    expect(response.previous_response_id).toBe(asked.id);
    expect((await openai.responses.retrieve(response.id)).output_text).toBe("You are in Vienna.");
    expect(await runsOf(worker, id)).toHaveLength(1);
  });

  test("has them also in a conversation that the client keeps", async () => {
    const { openai } = stage;
    const template = "template:tools_assistant";
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Where am I?" }];
    const asked = await openai.responses.create({ model: template, input, tools });
    const call = asked.output.find((item) => item.type === "function_call");
    const answered = await openai.responses.create({
      model: template,
      tools,
      input: [
        ...input,
        ...(asked.output as OpenAI.Responses.ResponseInputItem[]),
        { type: "function_call_output", call_id: call!.call_id, output: "Vienna" },
      ],
    });
    expect(answered.output_text).toBe("You are in Vienna.");
    expect(answered.conversation).toEqual(asked.conversation);
  });

  test("has the approvals of MCP", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: careful() });
    const asked = await openai.responses.create({ model, input: "Calculate." });
    const [request] = asked.output;
    if (request?.type !== "mcp_approval_request") throw new Error("it is not an approval");
    expect(request).toMatchObject({
      name: "calculator",
      server_label: "clerk",
      arguments: '{"expression":"6 * 7"}',
    });
    const approved = await openai.responses.create({
      model,
      previous_response_id: asked.id,
      input: [{ type: "mcp_approval_response", approval_request_id: request.id, approve: true }],
    });
    expect(approved.output_text).toBe("42");
  });

  test("has calls of the agents' tools as calls of a server when all is shown", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: careful() });
    const request = { model, input: "Calculate.", troupe: { show: "all" } };
    const asked = await openai.responses.stream(request).finalResponse();
    const [call, approval] = asked.output;
    expect(call).toMatchObject({ type: "mcp_call", name: "calculator", status: "incomplete" });
    if (approval?.type !== "mcp_approval_request") throw new Error("it is not an approval");
    await openai.responses.create({
      model,
      previous_response_id: asked.id,
      input: [{ type: "mcp_approval_response", approval_request_id: approval.id, approve: true }],
    });
    // Read again, it goes up to where the run is.
    const again = await openai.responses.retrieve(asked.id);
    expect(again.output).toContainEqual(
      expect.objectContaining({
        type: "mcp_call",
        id: call?.id,
        server_label: "clerk",
        status: "completed",
        output: "42",
      }),
    );
    expect(again.output_text).toBe("42");
  });

  test("has questions for input as messages, answered by messages", async () => {
    const { worker, openai } = stage;
    await newTeam(worker, { id, component: inTurn(writer(), HUMAN) });
    const asked = (await openai.responses.create({ model, input: "Ask." })) as Body;
    expect(asked.status).toBe("completed");
    expect(asked.output).toMatchObject([
      { type: "message", phase: "commentary", content: [{ text: "Four little words here." }] },
      { type: "message", phase: "final_answer", content: [{ text: "Which city?" }] },
    ]);
    expect(asked.troupe.requests).toMatchObject([{ kind: "input" }]);
    const answered = await openai.responses.create({
      model,
      input: "Lisbon",
      previous_response_id: asked.id,
    });
    expect(answered.output_text).toBe("Lisbon");
  });
});
