import * as z from "zod";
import type { AnyComponentDefinition } from "../../component/component.ts";
import { beginningOf } from "../../cut.ts";
import { errorMessage } from "../../errors.ts";
import { asJson, type JsonObject, sortedJson } from "../../json.ts";
import { OwnTool } from "../../tools/function/own-tool.ts";
import { embeddingsIn } from "../../memories/embedding-use.ts";
import type { EmbeddingClient, EmbeddingResult } from "../../memory/embedding-client.ts";
import { cosine, merged } from "../../memory/merge-ranks.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import { textTokens } from "../../models/tokens/estimate.ts";
import { languagesIn, rank } from "../../search/rank.ts";
import { loadStemmers } from "../../search/stem.ts";
import { countTokens, queryWords } from "../../search/tokens.ts";
import type { RunObserver } from "../../run/run-observer.ts";
import { parseState } from "../../state/load-state.ts";
import type { StateParts, Stateful } from "../../state/stateful.ts";
import { rethrowSignal } from "../../steps/signals.ts";
import type { StepAttempt } from "../../steps/step-attempt.ts";
import { StaticStreamWorkbench } from "../../tools/static-workbench.ts";
import type { Workbench } from "../../tools/workbench.ts";
import type { StepOptions, TurnContext } from "../../turn/turn-context.ts";
import type { OfferedTool } from "./offered-tools.ts";

/** An agent with at most this many tools is offered all of them. */
export const MOST_WITHOUT_SEARCH = 20;

/** A round of the model that only searches counts as no round of calls, up to this many in one answer. */
export const MOST_SEARCHES = 10;

const SEARCH_TOOLS = "search_tools";
const DESCRIPTION =
  "Finds more of your tools. Only some of your tools are listed; call this before you say that you cannot do something. The tools that it finds can be called from then on.";

/** By words and by meaning, each ranking has this many times `k` places before they are merged. */
const CANDIDATES = 4;

export interface ToolSearchOptions {
  /** Names of tools that are always offered. */
  always?: readonly string[] | undefined;
  /** The most tools that a search finds. Default 8. */
  k?: number | undefined;
}

export const toolSearchSchema = z.strictObject({
  always: z.array(z.string().min(1)).max(200).optional(),
  k: z.int().min(1).max(50).optional(),
});

const stateSchema = z.object({ found: z.array(z.string()) });

/** The tools that one model call may use. */
export interface Offer {
  /** In the request, before the tools that the agent hands over with. */
  listed: readonly OfferedTool[];
  /** In the request, behind everything else: what was found before keeps its place, so that the makers' caches of prompts hold. */
  found: readonly OfferedTool[];
  /** Not in the request. A model that knows such a tool from an earlier run may call it. */
  hidden: readonly OfferedTool[];
}

type Found = { names: string[]; note?: string } & Partial<Omit<EmbeddingResult, "vectors">>;

/**
 * Offers the model a search instead of a long list of tools: tools that are always offered, `search_tools`, and what it has found in
 * this run. Whether a tool was found does not change how it is called: approval, policy and overrides stay.
 */
export class ToolSearch implements Stateful, RunObserver {
  /** Lists and calls `search_tools`. It has no state of its own. */
  readonly workbench: Workbench;
  readonly #options: ToolSearchOptions;
  readonly #always: readonly string[];
  readonly #k: number;
  readonly #embedding: EmbeddingClient | undefined;
  #found: string[] = [];
  /** The name that the model calls the search by; undefined while it is offered all tools. */
  #name: string | undefined;
  #tools: readonly OfferedTool[] = [];
  /** Vectors of the tools' texts, which are embedded once in a process. */
  readonly #vectors = new Map<string, readonly number[]>();

  /**
   * @param definition the agent's
   * @param memory the agent's memories: the first with an embedding client lends it
   */
  constructor(
    options: ToolSearchOptions,
    definition: AnyComponentDefinition,
    memory: readonly Stateful[],
  ) {
    this.#options = options;
    this.#always = options.always ?? [];
    this.#k = options.k ?? 8;
    this.#embedding = memory.flatMap(embeddingsIn)[0]?.client;
    this.workbench = new StaticStreamWorkbench([
      new OwnTool(definition, {
        name: SEARCH_TOOLS,
        description: DESCRIPTION,
        parameters: z.object({
          query: z
            .string()
            .min(1)
            .describe("What the tool is to do, such as: create an issue in a repository."),
        }),
        run: ({ query }, { ctx }) => this.#answer(query, ctx),
      }),
    ]);
  }

  /**
   * @param tools the tools of all workbenches; that of the search is the last
   * @param workbenches the number of the agent's own workbenches: the tools of its memories are always offered
   */
  offer(tools: readonly OfferedTool[], workbenches: number, ctx: TurnContext): Offer {
    const own = tools.filter(({ place }) => place < workbenches);
    const others = tools.filter(({ place }) => place >= workbenches);
    const search = others.at(-1);
    this.#tools = own;
    this.#name = own.length > MOST_WITHOUT_SEARCH ? search?.schema.name : undefined;
    if (this.#name === undefined) {
      return { listed: tools.filter((tool) => tool !== search), found: [], hidden: [] };
    }
    const always = own.filter((tool) => this.#always.some((name) => isNamed(tool, name)));
    for (const name of this.#always) {
      if (!own.some((tool) => isNamed(tool, name)))
        ctx.note(`tool_search.always names "${name}", which is not a tool of the agent`);
    }
    const found = this.#found
      .map((name) => own.find(({ schema }) => schema.name === name))
      .filter((tool) => tool !== undefined && !always.includes(tool)) as OfferedTool[];
    const visible = new Set([...always, ...found]);
    return {
      listed: [...always, ...others],
      found,
      hidden: own.filter((tool) => !visible.has(tool)),
    };
  }

  /** A tool that the model has called stays offered, too. */
  called(names: readonly string[]): void {
    for (const name of names) {
      const tool = this.#tools.find((one) => one.schema.name === name);
      if (tool !== undefined) this.#keep([tool.schema.name]);
    }
  }

  /** True if all of these calls are searches. */
  isSearch(names: readonly string[]): boolean {
    return names.every((name) => name === this.#name);
  }

  /** A retry continues with what the run that it repeats has found. */
  runBegins(): void {
    this.#found = [];
  }

  runEnds(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  finish(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async #answer(query: string, ctx: TurnContext): Promise<string> {
    const tools = this.#tools.map(({ schema }) => schema);
    const { names, note } = await ctx.step<Found>(
      "search",
      (attempt) => this.#search(query, tools, attempt),
      this.#stepOptions(query, tools),
    );
    if (note !== undefined) ctx.note(note);
    this.#keep(names);
    const found = names.flatMap((name) => tools.find((tool) => tool.name === name) ?? []);
    if (found.length === 0) {
      return `None of ${tools.length} tools matches. Search again with other words: what the tool does, or the service that it belongs to.`;
    }
    const lines = found.map(({ name, description = "" }) => `- ${name}: ${firstLine(description)}`);
    return `Found ${found.length} of ${tools.length} tools. You can call them now:\n${lines.join("\n")}`;
  }

  #stepOptions(query: string, tools: readonly ToolSchema[]): StepOptions<Found> {
    const client = this.#embedding;
    const fingerprint = (): string => sortedJson(asJson([query, tools.map(({ name }) => name)]));
    if (client === undefined) return { fingerprint };
    const texts = [query, ...tools.map(textOf).filter((text) => !this.#vectors.has(text))];
    return {
      kind: "model",
      ...(client.subject && { subject: client.subject }),
      fingerprint,
      estimate: () =>
        Promise.resolve({
          model: client.subject?.name,
          prompt_tokens: texts.reduce((sum, text) => sum + textTokens(text), 0),
          completion_tokens: 0,
        }),
    };
  }

  async #search(query: string, tools: readonly ToolSchema[], attempt: StepAttempt): Promise<Found> {
    await loadStemmers();
    const byWords = rankedByWords(query, tools);
    const first = (names: readonly string[]): string[] => names.slice(0, this.#k);
    if (this.#embedding === undefined) return { names: first(byWords) };
    try {
      const [byMeaning, counted] = await this.#rankedByMeaning(
        query,
        tools,
        this.#embedding,
        attempt,
      );
      const most = CANDIDATES * this.#k;
      const both = merged([byWords.slice(0, most), byMeaning.slice(0, most)]);
      return { names: first(both.map(([name]) => name)), ...counted };
    } catch (error) {
      rethrowSignal(error);
      const note = `Tools were searched by words only, because embedding failed: ${errorMessage(error)}`;
      return { names: first(byWords), note };
    }
  }

  async #rankedByMeaning(
    query: string,
    tools: readonly ToolSchema[],
    client: EmbeddingClient,
    { signal, idempotencyKey, trace }: StepAttempt,
  ): Promise<[string[], Omit<EmbeddingResult, "vectors">]> {
    const texts = tools.map(textOf);
    const missing = [...new Set(texts)].filter((text) => !this.#vectors.has(text));
    const options = { signal, idempotencyKey, ...(trace && { trace }) };
    const { vectors, ...counted } = await client.embed([query, ...missing], options);
    const [asked = [], ...made] = vectors;
    for (const [index, text] of missing.entries()) this.#vectors.set(text, made[index] ?? []);
    const names = tools
      .map(({ name }, index) => ({
        name,
        score: cosine(asked, this.#vectors.get(texts[index] as string) ?? []),
      }))
      .toSorted((a, b) => b.score - a.score)
      .map(({ name }) => name);
    return [names, counted];
  }

  #keep(names: readonly string[]): void {
    this.#found = [...new Set([...this.#found, ...names])];
  }

  saveState(): JsonObject {
    return { found: this.#found };
  }

  loadState(state: JsonObject): void {
    this.#found = parseState(stateSchema, state, "the state of a tool search").found;
  }

  stateParts(): StateParts {
    return {
      head: {
        save: () => this.saveState(),
        load: (value) => {
          this.loadState(value as JsonObject);
        },
      },
    };
  }

  toConfig(): true | JsonObject {
    const { always, k } = this.#options;
    if (always === undefined && k === undefined) return true;
    return { ...(always && { always: [...always] }), ...(k !== undefined && { k }) };
  }
}

function isNamed({ name, schema }: OfferedTool, searched: string): boolean {
  return name === searched || schema.name === searched;
}

/** The names of the tools that have a word of the query, best first. */
function rankedByWords(query: string, tools: readonly ToolSchema[]): string[] {
  const analysis = { tokenizer: "porter", language: "en" } as const;
  const texts = tools.map((tool) => countTokens(textOf(tool), analysis));
  const words = queryWords(separated(query), analysis, languagesIn(texts));
  return rank(texts, words).map(({ index }) => (tools[index] as ToolSchema).name);
}

/** The text that a tool is found by: its name, which counts twice, its description and the names of its parameters. */
function textOf({ name, description = "", parameters }: ToolSchema): string {
  const words = separated(name);
  const fields = Object.keys(parameters?.properties ?? {}).map(separated);
  return [words, words, description, ...fields].join("\n");
}

/** `createIssue` and `create_issue` as words. */
function separated(text: string): string {
  return text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").replaceAll(/[_\-./]+/g, " ");
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length > 200 ? `${beginningOf(line, 199)}…` : line;
}
