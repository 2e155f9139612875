import { startEmbeddingServer } from "../../support/embedding-server.ts";
import type { Place } from "../harness/place.ts";
import type { Random } from "../harness/random.ts";
import { Service } from "../harness/service.ts";
import type { Case } from "../runner.ts";
import {
  type ObjectName,
  type PassedPoints,
  type ResetPoint,
  RESETS_PATH,
} from "../worker/protocol.ts";
import { Session } from "./session.ts";
import { STORIES } from "./stories/all.ts";
import { rulesOf, type Story } from "./stories/story.ts";

/** Stands for the tenant in the names of objects. */
const TENANT = "TENANT";

/** Resets single objects where a story comes by: at each write and at each call, while all others live. */
export class ResetCases implements AsyncDisposable {
  #resets = 0;
  #refusals = 0;
  readonly #service: Service;
  readonly #embeddings: Awaited<ReturnType<typeof startEmbeddingServer>>;
  #told = 0;

  private constructor(
    service: Service,
    embeddings: Awaited<ReturnType<typeof startEmbeddingServer>>,
  ) {
    this.#service = service;
    this.#embeddings = embeddings;
  }

  static async start(place: Place): Promise<ResetCases> {
    const service = await Service.start(place, rulesOf(STORIES), { heartbeatMs: 250 });
    return new ResetCases(service, await startEmbeddingServer());
  }

  /** @param some how many points of each story are tried; undefined for all */
  async *cases(some: number | undefined, random: Random): AsyncGenerator<Case, void, void> {
    for (const story of STORIES) {
      const tenant = this.#newTenant();
      const { problems, passed } = await this.#tell(story, tenant);
      yield { name: `resets: ${story.name}: none`, run: () => Promise.resolve(problems) };
      const points = pointsOf(passed, tenant);
      for (const point of chosen(points, some, random)) yield this.#reset(story, point);
    }
  }

  get totals(): string {
    return `${this.#resets} resets of single objects, ${this.#refusals} answers with 503`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
    await this.#embeddings[Symbol.asyncDispose]();
  }

  #reset(story: Story, point: ResetPoint): Case {
    const { object, label, occurrence, mode } = point;
    return {
      name: `resets: ${story.name}: ${object} ${mode} ${label} #${occurrence}`,
      run: async () => {
        const tenant = this.#newTenant();
        const named = { ...point, object: object.replace(TENANT, tenant) as ObjectName };
        await this.#request("POST", "", named);
        const { problems, passed } = await this.#tell(story, tenant);
        if (!passed.armed) this.#resets++;
        return problems;
      },
    };
  }

  #newTenant(): string {
    return `t${++this.#told}`;
  }

  async #tell(story: Story, tenant: string): Promise<{ problems: string[]; passed: PassedPoints }> {
    const session = new Session({
      tenant,
      origin: () => this.#service.origin,
      fake: this.#service.fake,
      embeddings: this.#embeddings.url,
    });
    const problems: string[] = [];
    try {
      await story.happens(session);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
    this.#refusals += session.refusals;
    return { problems, passed: await this.#passed(tenant) };
  }

  #passed(tenant: string): Promise<PassedPoints> {
    return this.#request("GET", `?tenant=${tenant}`);
  }

  async #request<T>(method: string, query: string, body?: object): Promise<T> {
    const response = await fetch(`${this.#service.origin}${RESETS_PATH}${query}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the harness was answered ${response.status}: ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
}

/** Where objects can be reset that have come by these points. */
function pointsOf({ counts }: PassedPoints, tenant: string): ResetPoint[] {
  return counts.flatMap(({ object, label, count }) => {
    const modes = label.startsWith("call ")
      ? (["lost"] as const)
      : label.startsWith("end ")
        ? (["durable"] as const)
        : (["lost", "durable"] as const);
    return Array.from({ length: count }, (_, index) =>
      modes.map((mode) => ({
        object: object.replace(tenant, TENANT) as ObjectName,
        label,
        occurrence: index + 1,
        mode,
      })),
    ).flat();
  });
}

/** All, or as many as wanted: of different labels as long as there are some. */
function chosen(
  points: readonly ResetPoint[],
  some: number | undefined,
  random: Random,
): ResetPoint[] {
  const shuffled = random.shuffled(points);
  if (some === undefined) return shuffled;
  const kind = ({ object, label, mode }: ResetPoint): string => `${object} ${label} ${mode}`;
  const seen = new Set<string>();
  const first = shuffled.filter((point) => !seen.has(kind(point)) && seen.add(kind(point)));
  return [...first, ...shuffled.filter((point) => !first.includes(point))].slice(0, some);
}
