// Programs of frameworks whose model is a team: they call their own tools between the team's answers.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import {
  ChatOpenAI,
  createReactAgent,
  langChainTool,
  MastraAgent,
  mastraTool,
  MemorySaver,
} from "../../../peers/openai-clients.ts";
import { newTeam, writer } from "../support/teams.ts";
import { runsOf, type Stage, startStage } from "./support/stage.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage[Symbol.asyncDispose]());

describe("an agent of LangGraph", () => {
  const agentOf = async (team: string, useResponsesApi: boolean) => {
    await newTeam(stage.worker, { id: team, component: writer() });
    const places: unknown[] = [];
    const locate = langChainTool(
      (given) => {
        places.push(given);
        return "Vienna";
      },
      {
        name: "locate",
        description: "Says where the user is.",
        schema: z.object({ precise: z.boolean() }),
      },
    );
    const llm = new ChatOpenAI({
      model: `team:${team}`,
      apiKey: "none",
      configuration: { baseURL: `${await stage.worker.origin}/openai/v1` },
      useResponsesApi,
    });
    const agent = createReactAgent({ llm, tools: [locate], checkpointSaver: new MemorySaver() });
    return { agent, places };
  };
  const thread = { configurable: { thread_id: "1" } };
  const said = (content: string) => ({ messages: [{ role: "user" as const, content }] });

  test.each([
    ["chat completions", false],
    ["responses", true],
  ])("calls its tool and keeps its thread over %s", async (name, useResponsesApi) => {
    const team = `graph-${useResponsesApi ? "responses" : "chat"}`;
    const { agent, places } = await agentOf(team, useResponsesApi);
    const first = await agent.invoke(said("Where am I?"), thread);
    expect(places).toEqual([{ precise: false }]);
    expect(first.messages.at(-1)?.text).toBe("You are in Vienna.");
    const second = await agent.invoke(said("Write."), thread);
    expect(second.messages.at(-1)?.text).toBe("Four little words here.");
    // The team has each message once, though the program sends its whole thread.
    const tasks = (await runsOf(stage.worker, team)).map(({ task }) =>
      task.map(({ content }) => content),
    );
    expect([name, tasks]).toEqual([name, [["Write."], ["Where am I?"]]]);
  });

  test("streams the messages of the team", async () => {
    const { agent } = await agentOf("graph-stream", false);
    const pieces: string[] = [];
    for await (const [piece] of await agent.stream(said("Write."), {
      ...thread,
      streamMode: "messages",
    })) {
      pieces.push(piece.text);
    }
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join("")).toBe("Four little words here.");
  });
});

describe("an agent of Mastra", () => {
  const agentOf = async (team: string) => {
    await newTeam(stage.worker, { id: team, component: writer() });
    const places: unknown[] = [];
    const locate = mastraTool({
      id: "locate",
      description: "Says where the user is.",
      inputSchema: z.object({ precise: z.boolean() }),
      execute: async (given) => {
        places.push(given);
        return "Vienna";
      },
    });
    const agent = new MastraAgent({
      id: team,
      name: team,
      instructions: "Help the user.",
      model: {
        providerId: "troupe",
        modelId: `team:${team}`,
        url: `${await stage.worker.origin}/openai/v1`,
        apiKey: "none",
      },
      tools: { locate },
    });
    return { agent, places };
  };

  test("calls its tool between the team's answers", async () => {
    const { agent, places } = await agentOf("mastra");
    const { text } = await agent.generate("Where am I?");
    expect(text).toBe("You are in Vienna.");
    expect(places).toEqual([{ precise: false }]);
    expect(await runsOf(stage.worker, "mastra")).toMatchObject([{ status: "completed" }]);
  });

  test("streams the messages of the team", async () => {
    const { agent } = await agentOf("mastra-stream");
    const { textStream } = await agent.stream("Write.");
    const pieces: string[] = [];
    for await (const piece of textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join("")).toBe("Four little words here.");
  });
});
