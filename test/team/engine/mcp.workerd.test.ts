import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import { assistant } from "../support/assistants.ts";
import { answerMcp, mcpServer, mcpWorkbench } from "../support/mcp.ts";
import { roundRobin, Signal, TestTeam, value } from "../support/team.ts";

/** A team whose agent calls a tool of the server and says what it answers. */
function team(tool: string, workbench: JsonObject = {}): Promise<TestTeam> {
  const call = {
    finish_reason: "function_calls",
    content: [{ id: "1", name: tool, arguments: "{}" }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
  };
  const workbenches = [mcpWorkbench(workbench)] as unknown as JsonObject[];
  return TestTeam.create(roundRobin([assistant("a", [call], { workbench: workbenches })], 1));
}

async function lastText(subject: TestTeam, run: string): Promise<unknown> {
  const { result } = await subject.finished(run);
  const last = result?.messages.at(-1);
  return last !== undefined && "content" in last ? last.content : undefined;
}

describe("an object that is lost in the middle of a call of an MCP tool", () => {
  /** The run's last text; the first call never ends. */
  async function interrupted(tool: string): Promise<unknown> {
    const arrived = new Signal();
    answerMcp(async () => {
      if (mcpServer.calls.length > 1) return "done again";
      arrived.set();
      return new Promise(() => {});
    });
    const subject = await team(tool);
    const { id } = await subject.start("go");
    await arrived.wait();
    await subject.crash();
    await runDurableObjectAlarm(subject.stub);
    return lastText(subject, id);
  }

  test("makes a call that only reads again, under its key", async () => {
    expect(await interrupted("look")).toBe("done again");
    const [first, second, ...more] = mcpServer.calls;
    expect(second).toEqual(first);
    expect(more).toEqual([]);
    expect(mcpServer.lists).toBe(1);
  });

  test("does not make another call again", async () => {
    expect(await interrupted("pay")).toMatch(/^The outcome is unknown/);
    expect(mcpServer.calls).toHaveLength(1);
  });
});

test("a call that needs approval waits for it without a connection, and is made in a new object", async () => {
  answerMcp(async () => "paid");
  const subject = await team("pay", { approval: "human" });
  const { id } = await subject.start("go");
  const waiting = await subject.rested(id);
  expect(waiting.status).toBe("waiting");
  expect(mcpServer.calls).toEqual([]);
  await subject.evict();
  const [question] = value(await subject.gateway.requests(id));
  value(await subject.gateway.answer(id, question!.id, { approved: true }));
  expect(await lastText(subject, id)).toBe("paid");
  // Once for the model, once after the approval.
  expect(mcpServer.lists).toBe(2);
});
