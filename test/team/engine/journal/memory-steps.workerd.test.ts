import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ComponentModel, JsonObject, MemoryContent, TurnContext } from "troupe";
import { FullTextMemory } from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { type Tokenizer, TOKENIZERS } from "#core/search/tokens.ts";
import type { ScriptedAgent } from "../../support/scripted-agent.ts";
import { agent, roundRobin, TestTeam, texts, value } from "../../support/team.ts";
import { casesOf } from "../../../support/samples.ts";

/** What happens to a team whose agent has a memory, one after the other. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), words: words(), fails: sometimes() }),
  fc.record({ kind: fc.constant("clear" as const), words: words(), fails: sometimes() }),
  fc.record({ kind: fc.constant("component" as const), tokenizer: tokenizers() }),
  fc.constantFrom(
    { kind: "ask" as const },
    { kind: "evict" as const },
    { kind: "fork" as const },
    { kind: "reset" as const },
    { kind: "save" as const },
    { kind: "load" as const },
    { kind: "lose index" as const },
  ),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function words(): fc.Arbitrary<string[]> {
  const word = fc.constantFrom("cat", "cats", "dog", "bird", "tree");
  const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((list) => list.join(" "));
  return fc.array(text, { maxLength: 3 });
}

function sometimes(): fc.Arbitrary<boolean> {
  return fc.nat(3).map((number) => number === 0);
}

function tokenizers(): fc.Arbitrary<Tokenizer> {
  return fc.constantFrom(...TOKENIZERS);
}

const plain = TurnScope.root(new InMemoryHost({}).turn(0));

function content(text: string): MemoryContent {
  return { content: text, mime_type: "text/plain", metadata: null };
}

type Act = (memory: FullTextMemory, ctx: TurnContext) => Promise<string>;

/** What is found, as it is compared: the last digits of a score are the processor's. */
async function found(memory: FullTextMemory, ctx: TurnContext): Promise<string> {
  const results = await memory.query("cat bird", ctx, { k: 100 });
  return results
    .map(
      ({ content: text, metadata }) =>
        `${text as string} ${Number(metadata?.["score"]).toPrecision(9)}`,
    )
    .join("|");
}

/** A team object beside what its memory has to hold. */
class Subject {
  #act: Act = () => Promise.resolve("");
  #team: TestTeam | undefined;
  #texts: readonly string[] = [];
  #saved: { state: JsonObject; texts: readonly string[] } | undefined;
  #tokenizer: Tokenizer = "porter";
  readonly #agent = (memory: JsonObject): ComponentModel => roundRobin([this.#self(memory)], 1);
  readonly #self: (memory: JsonObject) => ComponentModel;

  constructor() {
    const act: Act = (memory, ctx) => this.#act(memory, ctx);
    const self = agent(
      "self",
      async function* (this: void, { memory: [memory] }: ScriptedAgent, ctx) {
        yield* [];
        return act(memory as FullTextMemory, ctx);
      },
      [],
    );
    this.#self = (config) => ({
      ...self,
      config: {
        ...self.config,
        memory: [{ provider: "troupe.memory.FullTextMemory", config }],
      },
    });
  }

  async play(one: Step): Promise<void> {
    const team = (this.#team ??= await TestTeam.create(this.#agent({})));
    const { gateway } = team;
    switch (one.kind) {
      case "add":
      case "clear": {
        const { kind, words: added, fails } = one;
        const next = kind === "clear" ? added : [...this.#texts, ...added];
        const answer = await this.#turn(async (memory, ctx) => {
          if (kind === "clear") await memory.clear(ctx);
          for (const text of added) await memory.add(content(text), ctx);
          const seen = await found(memory, ctx);
          if (fails) throw new TypeError(seen);
          return seen;
        });
        expect(answer).toBe(await this.#expected(next));
        if (!fails) this.#texts = next;
        return;
      }
      case "ask":
        expect(await this.#turn(found)).toBe(await this.#expected(this.#texts));
        return;
      case "component":
        this.#tokenizer = one.tokenizer;
        value(await gateway.replaceComponent(this.#agent({ tokenizer: one.tokenizer })));
        return;
      case "evict":
        return evict(team);
      case "fork":
        this.#team = await team.fork();
        return;
      case "reset":
        value(await gateway.reset());
        return;
      case "save":
        this.#saved = { state: value(await gateway.saveState()), texts: this.#texts };
        return;
      case "load":
        if (this.#saved === undefined) return;
        value(await gateway.loadState(this.#saved.state));
        this.#texts = this.#saved.texts;
        return;
      case "lose index":
        await evict(team);
        for (const table of await indexTables(team)) await team.sql(`drop table ${table}`);
        return evict(team);
    }
  }

  /** What the agent said, or what it failed with. */
  async #turn(act: Act): Promise<string> {
    this.#act = act;
    const team = this.#team as TestTeam;
    const { id } = await team.start("go");
    const run = await team.finished(id);
    return run.error?.message ?? String(texts(run).at(-1));
  }

  async #expected(contents: readonly string[]): Promise<string> {
    const memory = new FullTextMemory({ tokenizer: this.#tokenizer });
    for (const text of contents) await memory.add(content(text), plain);
    return found(memory, plain);
  }
}

/** As after a while without requests. */
async function evict(team: TestTeam): Promise<void> {
  // Only what runs can be evicted.
  value(await team.gateway.team());
  return team.evict();
}

/** The tables an index is made of, what depends on others first. */
async function indexTables(team: TestTeam): Promise<string[]> {
  const tables = await team.sql<{ name: string }>(
    `select name from sqlite_master where sql like 'create virtual table%' or name = 'search' order by length(name) desc`,
  );
  return tables.map(({ name }) => name);
}

test("a memory finds its entries, whatever happens to its team", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const subject = new Subject();
      for (const one of [...steps, { kind: "ask" as const }]) await subject.play(one);
    }),
    { numRuns: casesOf(15), seed: 3, endOnFailure: true },
  );
}, 300_000);
