import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { ModelError } from "troupe";
import { stateOf } from "../support/last-object.ts";
import { modelCall, thought } from "../support/scripted-agent.ts";
import {
  agent,
  counter,
  outline,
  roundRobin,
  Signal,
  TestTeam,
  texts,
  value,
} from "../support/team.ts";

/** Lets a run come to a step that does not end, after one that is done, and takes the object away. */
async function interruptedRun(
  policy: "retry" | "never",
): Promise<{ team: TestTeam; id: string; calls: string[] }> {
  const calls: string[] = [];
  const arrived = new Signal();
  const b = agent("b", async function* (self, ctx) {
    await ctx.step("done", () => {
      calls.push("done");
      return Promise.resolve(null);
    });
    yield thought(self.name, ctx, "thinking");
    return ctx.step(
      "held",
      async () => {
        calls.push("held");
        // A promise that a test settles would keep the object alive.
        if (calls.length === 2) {
          arrived.set();
          await new Promise(() => {});
        }
        return "done";
      },
      { policy, unknownOutcome: () => "unknown" },
    );
  });
  const team = await TestTeam.create(roundRobin([counter("a"), b], 2));
  const { id } = await team.start("go");
  await arrived.wait();
  await team.evict();
  return { team, id, calls };
}

describe("an interrupted run", () => {
  test("T8: the alarm alone continues the run, and recorded steps do not run again", async () => {
    const { team, id, calls } = await interruptedRun("retry");
    expect(await runDurableObjectAlarm(team.stub)).toBe(true);
    const run = await team.finished(id);
    expect(texts(run)).toEqual(["go", "a 1", "thinking", "done"]);
    expect(calls).toEqual(["done", "held", "held"]);
    expect(outline(await team.frames(id))).toEqual([
      "run completed",
      "go",
      "a 1",
      "thinking",
      "done",
      "TaskResult",
    ]);
  });

  test("T3: a step that must not run twice does not run again", async () => {
    const { team, id, calls } = await interruptedRun("never");
    expect(texts(await team.finished(id))).toEqual(["go", "a 1", "thinking", "unknown"]);
    expect(calls).toEqual(["done", "held"]);
  });

  test("fails in the end if it never makes progress", async () => {
    const arrived = { signal: new Signal() };
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        return ctx.step("deadly", async () => {
          arrived.signal.set();
          await new Promise(() => {});
          return "never";
        });
      }),
    );
    const { id } = await team.start("go");
    for (let restarts = 0; restarts < 10; restarts++) {
      await arrived.signal.wait();
      arrived.signal = new Signal();
      await team.evict();
      await team.run(id);
    }
    await arrived.signal.wait();
    await team.evict();
    expect(await team.finished(id)).toMatchObject({
      status: "failed",
      error: { type: "recovery_limit" },
    });
  });

  test("fails in the end if it ends the object as soon as it continues after an answer", async () => {
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        await ctx.ask({ id: ctx.id(), kind: "input", source: "a", prompt: "?" });
        // In the same go as the answer: what is not durable by now is lost.
        stateOf(team.stub)?.abort("deadly");
        await new Promise(() => {});
        return "never";
      }),
    );
    const { id } = await team.start("go");
    const [question] = (await team.rested(id)).requests;
    let answers = 0;
    const failed = async (): Promise<boolean> => {
      try {
        const run = await team.run(id);
        if (run.status === "waiting") {
          answers++;
          await team.gateway.answer(id, question?.id ?? "", { content: "yes" });
        }
        return run.status === "failed";
      } catch {
        return false; // The object was aborted.
      }
    };
    for (let tries = 0; !(await failed()); tries++) expect(tries).toBeLessThan(100);
    expect((await team.run(id)).error).toMatchObject({ type: "recovery_limit" });
    expect(answers).toBe(1);
  });

  test("makes no progress by messages that differ each time", async () => {
    const arrived = { signal: new Signal() };
    const team = await TestTeam.create(
      agent("a", async function* (self, ctx) {
        yield { ...thought(self.name, ctx, "hm"), id: crypto.randomUUID() };
        return ctx.step("deadly", async () => {
          arrived.signal.set();
          await new Promise(() => {});
          return "never";
        });
      }),
    );
    const { id } = await team.start("go");
    for (let restarts = 0; restarts < 11; restarts++) {
      await arrived.signal.wait();
      arrived.signal = new Signal();
      await team.evict();
      await team.run(id);
    }
    expect(await team.finished(id)).toMatchObject({ error: { type: "recovery_limit" } });
  });

  test("does not fail while each restart makes progress", async () => {
    const arrived = { signal: new Signal() };
    let restarts = 0;
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        for (let n = 0; n < 12; n++) {
          await ctx.step(`part:${n}`, async () => {
            if (n > restarts) {
              arrived.signal.set();
              await new Promise(() => {});
            }
            return n;
          });
        }
        return "done";
      }),
    );
    const { id } = await team.start("go");
    for (; restarts < 11;) {
      await arrived.signal.wait();
      arrived.signal = new Signal();
      await team.evict();
      restarts++;
      await team.run(id);
    }
    expect(await team.finished(id)).toMatchObject({ status: "completed" });
  });

  test("replaces the messages of a turn that other code repeats", async () => {
    const arrived = new Signal();
    let version = "old";
    const team = await TestTeam.create(
      agent("a", async function* (self, ctx) {
        yield { ...thought(self.name, ctx, version), id: `${version}-thought` };
        return ctx.step("held", async () => {
          if (version === "old") {
            arrived.set();
            await new Promise(() => {});
          }
          return "said";
        });
      }),
    );
    const { id } = await team.start("go");
    await arrived.wait();
    await team.evict();
    version = "new";
    const run = await team.finished(id);
    expect(texts(run)).toEqual(["go", "new", "said"]);
    const frames = await team.frames(id);
    expect(outline(frames)).toEqual([
      "run completed",
      "go",
      "old",
      "new",
      "said",
      "retract",
      "TaskResult",
    ]);
  });

  test("repeats the model's later replies after a changed request", async () => {
    const arrived = new Signal();
    const calls: string[] = [];
    let prompt = "old";
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        const first = await ctx.step(
          "model:0",
          () => {
            calls.push(`first ${prompt}`);
            return Promise.resolve(prompt);
          },
          { fingerprint: prompt },
        );
        const second = await ctx.step("model:1", async () => {
          calls.push(`second ${prompt}`);
          if (prompt === "old") {
            arrived.set();
            await new Promise(() => {});
          }
          return prompt;
        });
        return `${first} ${second}`;
      }),
    );
    const { id } = await team.start("go");
    await arrived.wait();
    await team.evict();
    prompt = "new";
    expect(texts(await team.finished(id))).toEqual(["go", "new new"]);
    expect(calls).toEqual(["first old", "second old", "first new", "second new"]);
  });

  test("fails if a request before an effect that must not be repeated has changed", async () => {
    const arrived = new Signal();
    let prompt = "old";
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        await ctx.step("model:0", () => Promise.resolve(prompt), { fingerprint: prompt });
        await ctx.step("tool:0", () => Promise.resolve("paid"), { policy: "never" });
        return ctx.step("model:1", async () => {
          arrived.set();
          await new Promise(() => {});
          return "";
        });
      }),
    );
    const { id } = await team.start("go");
    await arrived.wait();
    await team.evict();
    prompt = "new";
    expect(await team.finished(id)).toMatchObject({
      status: "failed",
      error: { type: "code_changed" },
    });
  });
});

describe("attempts", () => {
  test("a long wait leaves the object to the alarm", async () => {
    let calls = 0;
    const tried = new Signal();
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        return ctx.step(
          "model:0",
          ({ attempt }) => {
            calls++;
            tried.set();
            if (attempt > 1) return Promise.resolve(`attempt ${attempt}`);
            throw new ModelError("rate_limit", "slow down", { retryAfterMs: 3_600_000 });
          },
          { retry: () => ({ forSeconds: 7200 }) },
        );
      }),
    );
    const { id } = await team.start("go");
    await tried.wait();
    const before = Date.now();
    const run = await team.run(id);
    expect(run.status).toBe("running");
    const alarm = await team.alarm();
    expect(alarm).toBeGreaterThan(before + 3_000_000);

    await team.evict();
    expect(await team.run(id)).toMatchObject({ status: "running" });
    expect(calls).toBe(1);
    expect(value(await team.gateway.stopRun(id, "after_turn"))).toMatchObject({
      status: "completed",
    });
  });
});

describe("a retry", () => {
  test("keeps the recorded steps, but not the reply that led to the failure", async () => {
    const calls: string[] = [];
    let broken = true;
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx) {
            await ctx.step(
              "tool:0",
              () => {
                calls.push("tool");
                return Promise.resolve(null);
              },
              { policy: "never" },
            );
            const reply = await ctx.step(
              "draft:0",
              () => {
                calls.push("model");
                return Promise.resolve(broken ? "nonsense" : "sense");
              },
              { kind: "model" },
            );
            await ctx.step("models_list", () => {
              calls.push("list");
              return Promise.resolve(null);
            });
            yield thought(self.name, ctx, reply);
            if (reply === "nonsense") throw new TypeError("cannot read this");
            return reply;
          }),
        ],
        1,
      ),
    );
    const failed = await team.finished((await team.start("go")).id);
    expect(failed).toMatchObject({ status: "failed", error: { message: "cannot read this" } });

    broken = false;
    const retry = value(await team.gateway.retryRun(failed.id));
    expect(retry).toMatchObject({ retry_of: failed.id });
    const run = await team.finished(retry.id);
    expect(run).toMatchObject({ status: "completed", turns: 1 });
    expect(texts(run)).toEqual(["sense", "sense"]);
    expect(calls).toEqual(["tool", "model", "list", "model", "list"]);
    expect(await team.gateway.retryRun(run.id)).toMatchObject({
      ok: false,
      problem: { status: 409 },
    });
    const { messages } = value(await team.gateway.messages({ limit: 10 }));
    expect(messages.map((message) => "content" in message && message.content)).toEqual([
      "go",
      "sense",
      "sense",
    ]);
  });

  test("that the same request asks for again is the run that it started", async () => {
    let broken = true;
    const team = await TestTeam.create(
      agent("a", async function* () {
        yield* [];
        if (broken) throw new TypeError("no");
        return "yes";
      }),
    );
    const failed = await team.finished((await team.start("go")).id);
    const again = (run: string, key?: string) =>
      team.gateway.retryRun(run, key === undefined ? undefined : { key, hash: "" });
    const first = value(await again(failed.id, "k1"));
    expect(value(await again(failed.id, "k1")).id).toBe(first.id);
    await team.evict();
    expect(value(await again(failed.id, "k1")).id).toBe(first.id);
    expect(value(await again(failed.id)).id).toBe(first.id);
    expect(await again(failed.id, "k2")).toMatchObject({ problem: { code: "not_latest_run" } });
    await team.finished(first.id);

    broken = false;
    const second = value(await again(first.id));
    await team.finished(second.id);
    expect(value(await again(first.id)).id).toBe(second.id);
    expect(value(await again(failed.id, "k1")).id).toBe(first.id);
    expect(await again(first.id, "k1")).toMatchObject({
      problem: { code: "idempotency_mismatch" },
    });
    expect(await again(failed.id)).toMatchObject({ problem: { code: "not_latest_run" } });
    const other = await team.finished((await team.start("go on")).id);
    expect(other.status).toBe("completed");
    expect(await again(first.id)).toMatchObject({ problem: { code: "not_latest_run" } });
  });

  test("repeats nothing of a run that reached its limit", async () => {
    let calls = 0;
    const team = await TestTeam.create(
      agent("a", async function* (self, ctx) {
        const usage = { prompt_tokens: 5, completion_tokens: 2 };
        const reply = await modelCall(ctx, "model:0", () => `reply ${++calls}`, usage);
        yield thought(self.name, ctx, "hm");
        return ctx.step("model:1", () => Promise.resolve(`said after ${reply}`));
      }),
    );
    const failed = await team.finished((await team.start("go", { max_total_tokens: 6 })).id);
    expect(failed).toMatchObject({ status: "failed", error: { type: "token_limit" } });
    const retry = value(await team.gateway.retryRun(failed.id));
    expect(texts(await team.finished(retry.id)).at(-1)).toBe("said after reply 1");
  });

  test("is refused after the conversation it belongs to is gone", async () => {
    const team = await TestTeam.create(
      agent("a", async function* () {
        yield* [];
        throw new TypeError("no");
      }),
    );
    const failed = await team.finished((await team.start("go")).id);
    value(await team.gateway.reset());
    expect(await team.gateway.retryRun(failed.id)).toMatchObject({
      ok: false,
      problem: { code: "not_retryable" },
    });
  });
});
