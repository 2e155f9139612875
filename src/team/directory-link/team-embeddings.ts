import type { EmbeddedTexts, TextsToEmbed } from "../../contract/gateways/memory-gateway.ts";
import { errorMessage } from "../../core/errors.ts";
import { embeddingsIn, type EmbeddingUse } from "../../core/memories/embedding-use.ts";
import type { Embedding, MemoryScope } from "../../core/memory/memory-host.ts";
import {
  embedQuestion,
  embedWaiting,
  mayHelp,
  type PlaceEmbedder,
  type UsedEmbedding,
} from "../../sqlite/recall/place-embedder.ts";
import type { TeamCache } from "../engine/team-cache.ts";
import type { AlarmSource, TeamAlarm } from "../storage/team-alarm.ts";
import type { TeamMemory } from "../storage/team-memory.ts";

/** The alarm is set again before work begins, so that a killed object continues. */
const RESUME_MS = 5_000;

/**
 * Embeds texts with the clients that the team's memories have. For the team's own entries, and for those of a user or the
 * tenant that its agents use: no other object gets the key of a team.
 */
export class TeamEmbeddings implements AlarmSource {
  readonly #memory: TeamMemory;
  readonly #cache: TeamCache;
  readonly #alarm: TeamAlarm;
  readonly #own: PlaceEmbedder;
  #nextAt = Date.now();
  #isWorking = false;

  constructor(memory: TeamMemory, cache: TeamCache, alarm: TeamAlarm) {
    this.#memory = memory;
    this.#cache = cache;
    this.#alarm = alarm;
    this.#own = {
      used: async () =>
        (await this.#of("team")).map(({ client, collection }) => ({
          space: client.space,
          collection,
        })),
      embed: (used, texts) => this.#embed("team", used, texts),
    };
    memory.onDue = () => this.wake();
    alarm.serve(this);
  }

  get dueAt(): number | null {
    return this.#memory.entries.waiting.isDue ? this.#nextAt : null;
  }

  /** Has what people have added embedded soon. */
  wake(): void {
    if (!this.#memory.entries.waiting.isDue) return;
    this.#nextAt = Date.now();
    this.#alarm.set(this);
  }

  /** Not awaited: the alarm has other work. */
  onAlarm(): void {
    const { dueAt } = this;
    if (dueAt === null || dueAt > Date.now()) return;
    this.#nextAt = Date.now() + RESUME_MS;
    if (!this.#isWorking) void this.#work();
  }

  /** @see embedQuestion */
  question(text: string): Promise<{ embedding?: Embedding; note?: string }> {
    return embedQuestion(this.#memory.entries, this.#own, text);
  }

  /** Embeds texts for a user or the tenant. */
  async embedFor({ scope, space, texts }: TextsToEmbed): Promise<EmbeddedTexts> {
    try {
      const vectors = await this.#embed(scope, { space }, texts);
      return vectors === undefined ? { is: "unused" } : { is: "embedded", vectors };
    } catch (error) {
      return { is: "failed", reason: errorMessage(error), retryable: mayHelp(error) };
    }
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    try {
      const delay = await embedWaiting(this.#memory.entries, this.#own);
      this.#nextAt = Date.now() + (delay ?? 0);
    } catch {
      // A transaction has failed: the alarm that is set tries again.
      this.#memory.forget();
    } finally {
      this.#isWorking = false;
    }
    this.#alarm.set(this);
  }

  async #of(scope: MemoryScope): Promise<EmbeddingUse[]> {
    const { runnable } = await this.#cache.open();
    return embeddingsIn(runnable).filter((use) => use.scope === scope);
  }

  async #embed(
    scope: MemoryScope,
    { space }: Pick<UsedEmbedding, "space">,
    texts: readonly string[],
  ): Promise<number[][] | undefined> {
    const use = (await this.#of(scope)).find(({ client }) => client.space === space);
    return use && (await use.client.embed(texts)).vectors;
  }
}
