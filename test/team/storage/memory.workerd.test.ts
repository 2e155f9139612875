import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type {
  ComponentModel,
  JsonObject,
  MemoryContent,
  MemoryQueryEvent,
  TurnContext,
} from "troupe";
import { FullTextMemory } from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import type { Tokenizer } from "#core/search/tokens.ts";
import type { ScriptedAgent } from "../support/scripted-agent.ts";
import { agent, roundRobin, Signal, TestTeam, texts, value } from "../support/team.ts";
import { casesOf } from "../../support/samples.ts";
import { PATIENCE } from "../../support/patience.ts";

type Act = (memory: readonly FullTextMemory[], ctx: TurnContext) => Promise<string>;

/** A team of one agent with memories, which does something else with them at each turn of a test. */
class Rememberer {
  readonly #team: Promise<TestTeam>;
  #act: Act = () => Promise.resolve("");

  constructor(...memory: JsonObject[]) {
    const self = agent(
      "rememberer",
      async function* (this: void, { memory: stores }: ScriptedAgent, ctx) {
        yield* [];
        return act(stores, ctx);
      },
      memory.map((config) => ({ provider: "troupe.memory.FullTextMemory", config })),
    );
    const act: Act = (stores, ctx) => this.#act(stores, ctx);
    this.#team = TestTeam.create(roundRobin([self], 1));
  }

  /** The same agent in a fork. */
  at(fork: TestTeam): Pick<Rememberer, "turn"> {
    return { turn: (act) => this.turn(act, Promise.resolve(fork)) };
  }

  get team(): Promise<TestTeam> {
    return this.#team;
  }

  /** What the agent said; undefined when the turn failed. */
  async turn(act: Act, where = this.#team): Promise<string | undefined> {
    const { team, id } = await this.start(act, where);
    const run = await team.finished(id);
    return run.status === "completed" ? String(texts(run).at(-1)) : undefined;
  }

  async start(act: Act, where = this.#team): Promise<{ team: TestTeam; id: string }> {
    this.#act = act;
    const team = await where;
    const { id } = await team.start("go");
    return { team, id };
  }

  async evict(): Promise<void> {
    await (await this.#team).evict();
  }
}

function text(content: string, metadata: JsonObject | null = null): MemoryContent {
  return { content, mime_type: "text/plain", metadata };
}

function numbers(length: number): string[] {
  return Array.from({ length }, (_, index) => `number${index}`);
}

/** Queries and says what was found. */
function asks(query: string, which = 0): Act {
  return async (memory, ctx) => {
    const found = await memory[which]?.query(query, ctx);
    return (found ?? []).map(({ content }) => content as string).join("|");
  };
}

function adds(...contents: string[]): Act {
  return async ([memory], ctx) => {
    for (const content of contents) await memory?.add(text(content), ctx);
    return "";
  };
}

describe("a full-text memory in a team object", () => {
  test("finds the additions of its turn at once, and later turns after any restart", async () => {
    const { turn, evict } = bound(new Rememberer({}));
    expect(
      await turn(async (memory, ctx) => {
        await adds("The cat is black.", "The dog is brown.")(memory, ctx);
        return asks("cats")(memory, ctx);
      }),
    ).toBe("The cat is black.");
    expect(await turn(asks("dogs"))).toBe("The dog is brown.");
    await evict();
    expect(
      await turn(async (memory, ctx) => {
        await adds("Another cat, and one more cat.")(memory, ctx);
        return asks("cat")(memory, ctx);
      }),
    ).toBe("Another cat, and one more cat.|The cat is black.");
    await evict();
    expect(await turn(asks("cat"))).toBe("Another cat, and one more cat.|The cat is black.");
  });

  test("keeps nothing of a turn that failed", async () => {
    const { turn } = bound(new Rememberer({}));
    await turn(adds("The cat is black."));
    const failed = await turn(async (memory, ctx) => {
      await adds("The cat is white.")(memory, ctx);
      expect(await asks("cat")(memory, ctx)).toBe("The cat is white.|The cat is black.");
      await memory[0]?.clear(ctx);
      expect(await asks("cat")(memory, ctx)).toBe("");
      throw new Error("given up");
    });
    expect(failed).toBeUndefined();
    expect(await turn(asks("cat"))).toBe("The cat is black.");
  });

  test("stays when the team gets another component, whatever its settings", async () => {
    const rememberer = new Rememberer({});
    const { turn } = bound(rememberer);
    await turn(adds("The cat is black.", "The cat is white."));
    const team = await rememberer.team;
    const stored = await team.sql("select count(*) as rows from log where path like '%contents'");
    const others = { memory_contents: [text("The cat is blue.")] };
    for (const settings of [{ k: 1 }, { tokenizer: "trigram" }, others, {}]) {
      const text_ = JSON.stringify(value(await team.gateway.team()).component);
      const changed = JSON.parse(text_, (key, found: unknown) =>
        key === "memory" ? [{ provider: "troupe.memory.FullTextMemory", config: settings }] : found,
      ) as ComponentModel;
      value(await team.gateway.replaceComponent(changed));
      const found = await turn(asks("cat"));
      expect(found).toBe(
        "k" in settings ? "The cat is white." : "The cat is white.|The cat is black.",
      );
    }
    const now = await team.sql("select count(*) as rows from log where path like '%contents'");
    expect(now).toEqual(stored);
    await turn(adds("The cat is red."));
    expect(await turn(asks("red cat"))).toContain("The cat is red.|");
  });

  test("knows from the start the entries that another component gives it, if it was never written", async () => {
    const rememberer = new Rememberer({});
    const { turn } = bound(rememberer);
    expect(await turn(asks("cat"))).toBe("");
    const team = await rememberer.team;
    const { component } = value(await team.gateway.team());
    const knowing = { memory_contents: [text("The cat is black.")] };
    const other = JSON.parse(JSON.stringify(component), (key, found: unknown) =>
      key === "memory" ? [{ provider: "troupe.memory.FullTextMemory", config: knowing }] : found,
    ) as ComponentModel;
    value(await team.gateway.replaceComponent(other));
    expect(await turn(asks("cat"))).toBe("The cat is black.");
  });

  test("shows a turn that runs again the same entries as before", async () => {
    const rememberer = new Rememberer({});
    const { turn } = bound(rememberer);
    await turn(adds("The cat is black."));
    const seen: string[] = [];
    const reached = new Signal();
    const act: Act = async (memory, ctx) => {
      await adds("The cat is white.")(memory, ctx);
      seen.push(await asks("cat")(memory, ctx));
      await ctx.step("wait", () => {
        reached.set();
        // A promise that a test settles would keep the object alive.
        return seen.length > 1 ? Promise.resolve(1) : new Promise(() => {});
      });
      return asks("cat")(memory, ctx);
    };
    const { team, id } = await rememberer.start(act);
    await reached.wait();
    await team.evict();
    expect(texts(await team.finished(id)).at(-1)).toBe("The cat is white.|The cat is black.");
    expect(seen).toEqual([seen[0], seen[0]]);
  });

  test("loses cleared entries, in the turn and after it", async () => {
    const { turn, evict } = bound(new Rememberer({ memory_contents: [text("The cat is old.")] }));
    expect(await turn(asks("cat"))).toBe("The cat is old.");
    expect(
      await turn(async (memory, ctx) => {
        await memory[0]?.clear(ctx);
        await adds("The cat is new.")(memory, ctx);
        return asks("cat")(memory, ctx);
      }),
    ).toBe("The cat is new.");
    expect(await turn(asks("cat old"))).toBe("The cat is new.");
    await evict();
    expect(await turn(asks("cat old"))).toBe("The cat is new.");
  });

  test("is separate from another one of the same team", async () => {
    const { turn } = bound(
      new Rememberer(
        { memory_contents: ["cat one", "dog", "bird"].map((content) => text(content)) },
        { memory_contents: ["cat two", "cat three", "cat four"].map((content) => text(content)) },
      ),
    );
    const scores: Act = async (memory, ctx) => {
      const found = await memory[0]?.query("cat", ctx);
      return JSON.stringify(found?.map(({ content, metadata }) => [content, metadata?.["score"]]));
    };
    const alone = await turn(scores);
    expect(alone).toContain("cat one");
    expect(await turn(asks("cat", 1))).toBe("cat four|cat three|cat two");
    expect(await turn(scores)).toBe(alone);
  });

  test.each([
    ["a quote", '"'],
    ["SQL", "cat') union select * from meta --"],
    ["a quote and SQL", '" OR 1 --'],
    ["nearness", "NEAR(cat dog)"],
    ["a column", "text : cat"],
    ["prefixes and signs", "cat* ^dog - bird"],
    ["operators", "NOT cat AND"],
    ["a null character", "\u0000 cat"],
    ["brackets", "((("],
    ["a long text", `${"cat ".repeat(2000)}${numbers(3000).join(" ")}`],
  ])("reads %s as words", async (_, query) => {
    const { turn } = bound(new Rememberer({ memory_contents: [text("cat"), text("dog")] }));
    const expected = ["dog", "cat"].filter((word) => query.includes(word)).join("|");
    await turn(asks("what the index is not asked about, while all is in memory"));
    expect(await turn(asks(query))).toBe(expected);
  });

  test("is copied to a fork, as it was at its turn, and changes there alone", async () => {
    const rememberer = new Rememberer({ memory_contents: [text("The first cat.")] });
    const { turn } = bound(rememberer);
    await turn(adds("The cat is black."));
    const fork = rememberer.at(await (await rememberer.team).fork());
    await turn(adds("The cat is white."));
    expect(await fork.turn(adds("The cat is red."))).toBe("");
    expect(await fork.turn(asks("cat"))).toBe("The first cat.|The cat is red.|The cat is black.");
    expect(await turn(asks("cat"))).toBe("The first cat.|The cat is white.|The cat is black.");
    await turn(async ([memory], ctx) => {
      await memory?.clear(ctx);
      return "";
    });
    expect(await rememberer.at(await (await rememberer.team).fork()).turn(asks("cat"))).toBe("");
  });

  test("reads each of its rows a few times when a filter leaves out all that was found", async () => {
    const rememberer = new Rememberer({});
    const { turn } = bound(rememberer);
    await turn(adds(...numbers(3000).map((number) => `cat ${number}`)));
    await turn(async ([memory], ctx) => {
      await memory?.add(text("cat", { kind: "black" }), ctx);
      return "";
    });
    const fork = rememberer.at(await (await rememberer.team).fork());
    const parse = vi.spyOn(JSON, "parse");
    try {
      const found = await fork.turn(async ([memory], ctx) => {
        const none = await memory?.query("cat", ctx, { filter: { kind: "white" } });
        const one = await memory?.query("cat", ctx, { filter: { kind: "black" } });
        return `${none?.length} ${one?.length}`;
      });
      expect(found).toBe("0 1");
      expect(parse.mock.calls.length).toBeLessThan(300);
    } finally {
      parse.mockRestore();
    }
  });

  test("indexes the beginning of a text that is longer than SQLite's limit", async () => {
    const { turn, evict } = bound(new Rememberer({}));
    const long = `cat ${"天".repeat(500_000)} dog`;
    const beginnings =
      (query: string): Act =>
      async (memory, ctx) =>
        (await asks(query)(memory, ctx)).replaceAll(long, "cat ... dog");
    await turn(adds("The first."));
    await turn(adds(long));
    await evict();
    expect(await turn(beginnings("cat"))).toBe("cat ... dog");
    expect(await turn(beginnings("dog"))).toBe("");
    expect(await turn(beginnings(`${long} first`))).toBe("cat ... dog");
  });

  test("rebuilds the index in an object that is older than it", async () => {
    const rememberer = new Rememberer({});
    const { turn, evict } = bound(rememberer);
    const team = await rememberer.team;
    await turn(adds(...numbers(1200)));
    await turn(adds("The cat is black."));
    for (const statement of [
      "drop table search_1_terms",
      "drop table search_1",
      "drop table search",
    ])
      await team.sql(statement);
    await evict();
    expect(await turn(asks("number7"))).toBe("number7");
    expect(await turn(asks("cat"))).toBe("The cat is black.");
  });

  test("is saved, loaded and reset with the state", async () => {
    const rememberer = new Rememberer({});
    const { turn } = bound(rememberer);
    const { gateway } = await rememberer.team;
    await turn(adds("The cat is black."));
    const state = value(await gateway.saveState());
    await turn(adds("The cat is white."));
    value(await gateway.loadState(state));
    expect(await turn(asks("cat"))).toBe("The cat is black.");
    value(await gateway.reset());
    expect(await turn(asks("cat"))).toBe("The cat is black.");
  });

  test("is deleted with the team", async () => {
    const rememberer = new Rememberer({});
    const { turn } = bound(rememberer);
    const team = await rememberer.team;
    await turn(adds("The cat is black."));
    const { component } = value(await team.gateway.team());
    value(await team.gateway.destroy());
    value(await team.gateway.create({ id: team.id, label: null, metadata: {}, component }));
    await turn(adds("The dog is brown."));
    expect(await turn(asks("cat dog"))).toBe("The dog is brown.");
  });

  test("continues to answer after a turn that was given up", async () => {
    const rememberer = new Rememberer({});
    const { turn } = bound(rememberer);
    await turn(adds("The cat is black."));
    const late = { now: false, done: false };
    const { team, id } = await rememberer.start(async (memory, ctx) => {
      await adds("The cat is white.")(memory, ctx);
      while (!late.now) await scheduler.wait(1);
      expect(await asks("cat")(memory, ctx)).toBe("");
      late.done = true;
      return "";
    });
    value(await team.gateway.stopRun(id, "now"));
    await turn(adds("The cat is red."));
    late.now = true;
    await vi.waitUntil(() => late.done, PATIENCE);
    expect(await turn(asks("cat"))).toBe("The cat is red.|The cat is black.");
  });

  test("is searched by an assistant before it answers", async () => {
    const team = await TestTeam.create(
      roundRobin(
        [
          {
            provider: "AssistantAgent",
            config: {
              name: "assistant",
              description: "An assistant",
              model_client: {
                provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
                config: { chat_completions: ["Black."], cycle: true },
              },
              memory: [
                {
                  provider: "troupe.memory.FullTextMemory",
                  config: { memory_contents: [text("The cat is black."), text("It rains.")] },
                },
              ],
              reflect_on_tool_use: false,
              tool_call_summary_format: "{result}",
            },
          },
        ],
        1,
      ),
    );
    const seen: unknown[] = [];
    for (const task of ["What colour do cats have?", "And dogs?", "Does it rain?"]) {
      const run = await team.finished((await team.start(task)).id);
      const events = run.result?.messages.filter(({ type }) => type === "MemoryQueryEvent");
      seen.push(events?.flatMap((event) => (event as MemoryQueryEvent).content));
      await team.evict();
    }
    const score = expect.any(Number);
    expect(seen).toEqual([
      [{ ...text("The cat is black."), metadata: { score } }],
      [],
      [{ ...text("It rains."), metadata: { score } }],
    ]);
  });

  test("is taken over by another component, with its tokenizer", async () => {
    const rememberer = new Rememberer({ tokenizer: "porter" });
    const { turn } = bound(rememberer);
    const team = await rememberer.team;
    await turn(adds("The cat is black."));
    const { component } = value(await team.gateway.team());
    const other = JSON.parse(JSON.stringify(component).replace("porter", "trigram"));
    value(await team.gateway.replaceComponent(other));
    expect(await turn(asks("blackish"))).toBe("The cat is black.");
    expect(await team.sql("select tokenizer from search")).toEqual([
      { tokenizer: "trigram/auto/2" },
    ]);
  });

  test("writes as many rows for an addition to a big memory as to a small one, and none for a query", async () => {
    const rememberer = new Rememberer({});
    const { turn } = bound(rememberer);
    const team = await rememberer.team;
    const cost = async (act: Act): Promise<number> => {
      await team.delivered();
      const before = await team.rowsWritten();
      await turn(act);
      await team.delivered();
      return (await team.rowsWritten()) - before;
    };
    await turn(adds("The first cat."));
    const plain = await cost(() => Promise.resolve("nothing"));
    const small = await cost(adds("The cat is black."));
    await turn(adds(...numbers(3000)));
    expect(await cost(adds("The cat is white."))).toBe(small);
    expect(small).toBe(plain + 2);
    expect(await cost(asks("cat"))).toBe(plain);
  });
});

describe("the results of SQLite", () => {
  const words = [
    ..."running runs ran runner weather weathers café cafe Straße naïve Zürich zurich".split(" "),
    ..."relational conditional generalizations hopefulness e2e 3.14 don't C++ 天气很好 天气 Ελλάδα हिन्दी ภาษาไทย ὥσπερ ёлка".split(
      " ",
    ),
  ];
  const manyTexts = fc.array(
    fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((list) => list.join(" ")),
    { minLength: 1, maxLength: 12 },
  );

  test.each<Tokenizer>(["porter", "unicode61", "trigram"])(
    "equal those without it, in the same order: %s",
    async (tokenizer) => {
      const cases = fc.sample(fc.tuple(manyTexts, manyTexts, fc.array(fc.constantFrom(...words))), {
        numRuns: casesOf(25),
        seed: 7,
      });
      const { turn } = bound(new Rememberer({ tokenizer, k: 100 }));
      const plain = TurnScope.root(new InMemoryHost({}).turn(0));
      for (const [stored, pending, query] of cases) {
        const alone = new FullTextMemory({ tokenizer, k: 100 });
        for (const content of [...stored, ...pending]) await alone.add(text(content), plain);
        await turn(async (memory, ctx) => {
          await memory[0]?.clear(ctx);
          return adds(...stored)(memory, ctx);
        });
        const found = await turn(async (memory, ctx) => {
          await adds(...pending)(memory, ctx);
          return JSON.stringify(await memory[0]?.query(query.join(" "), ctx));
        });
        expect(rounded(JSON.parse(found ?? ""))).toEqual(
          rounded(await alone.query(query.join(" "), plain)),
        );
      }
    },
    60_000,
  );
});

/** The last digits of a score are the processor's. */
function rounded(contents: MemoryContent[]): unknown[] {
  return contents.map(({ content, metadata }) => [
    content,
    Number(metadata?.["score"]).toPrecision(9),
  ]);
}

function bound(rememberer: Rememberer): Pick<Rememberer, "turn" | "evict"> {
  return { turn: (act) => rememberer.turn(act), evict: () => rememberer.evict() };
}
