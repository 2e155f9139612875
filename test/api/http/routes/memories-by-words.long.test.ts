import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { jsonInit } from "../../../support/http-app.ts";
import {
  type Conversation,
  longConversation,
  type Turn,
} from "../../../support/long-conversations.ts";
import { referenceRanking } from "../../../../bench/memory/reference-bm25.ts";
import { TestWorker } from "../../../support/worker.ts";

/** Questions that are asked of each conversation: enough that no single answer decides. */
const ASKED = 160;
const PLACES = [1, 5, 10];
const WRITTEN: Record<string, (turn: Turn) => string> = {
  "with their speakers": ({ speaker, text }) => `${speaker}: ${text}`,
  "with speakers and days": ({ speaker, day, text }) => `${speaker} said on ${day}: ${text}`,
  "as they are": ({ text }) => text,
};

interface Found {
  memories: { content: string; metadata: { turn: string } }[];
}

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({ TENANT_REQUESTS_PER_SECOND: "100000" });
});

afterAll(() => worker[Symbol.asyncDispose]());

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? { method } : jsonInit(body, method);
  const response = await worker.fetch(path, init);
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return JSON.parse(text) as T;
}

/** The share of the turns with the answers that are among the first ones. */
function recall(questions: Conversation["questions"], found: string[][], first: number): number {
  const shares = questions.map(({ evidence }, index) => {
    const ids = new Set(found[index]?.slice(0, first));
    return evidence.filter((id) => ids.has(id)).length / evidence.length;
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

const CONVERSATIONS = [
  { turns: 500, speakers: ["Caroline", "Melanie"], seed: 3 },
  { turns: 1000, speakers: ["Joe", "Nate"], seed: 5 },
] as const;

/** The shorter one, unless `npm test -- --all` asks for both. */
const tried = CONVERSATIONS.slice(0, inject("allCases") ? 2 : 1);

describe.each(tried)("a conversation of $turns turns", ({ turns: count, speakers, seed }) => {
  const conversation = longConversation(speakers, count, seed);
  const questions = conversation.questions.slice(-ASKED);
  const placeOf = (written: string): { scope: string; user: string } => ({
    scope: "user",
    user: `${written.replaceAll(" ", "-")}-${count}`,
  });

  test.each(Object.entries(WRITTEN))(
    "is found by words as by plain BM25 with stemming: turns %s",
    async (name, written) => {
      const { turns } = conversation;
      const place = placeOf(name);
      const texts = turns.map(written);
      const memories = turns.map(({ id }, index) => ({
        content: texts[index],
        metadata: { turn: id },
      }));
      await send("POST", "/v1/memories", { ...place, memories });
      const ours: string[][] = [];
      for (const { text } of questions) {
        const query = new URLSearchParams({ ...place, q: text, limit: "10" });
        const { memories: found } = await send<Found>("GET", `/v1/memories?${query.toString()}`);
        ours.push(found.map(({ metadata }) => metadata.turn));
      }
      const ranking = referenceRanking(texts);
      const plain = questions.map(({ text }) =>
        ranking(text).map((index) => turns[index]?.id ?? ""),
      );
      // Signs, parts of words and compounds move single answers; over all places nothing may be lost.
      const figures = (found: string[][]): number =>
        PLACES.reduce((sum, first) => sum + recall(questions, found, first), 0);
      expect(figures(ours)).toBeGreaterThanOrEqual(figures(plain));
      expect(recall(questions, ours, 10)).toBeGreaterThan(0.8);
    },
  );

  test("is recalled in a run as over the API", async () => {
    const place = placeOf("with their speakers");
    const question = questions[0]?.text ?? "";
    const id = `asked-${count}`;
    const memory = {
      provider: "troupe.memory.VectorMemory",
      config: { scope: "user", k: 10 },
    };
    const component = {
      provider: "autogen_agentchat.agents.AssistantAgent",
      component_type: "agent",
      config: {
        name: "friend",
        model_client: {
          provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
          config: { chat_completions: ["I see."] },
        },
        memory: [memory],
      },
    };
    await send("POST", "/v1/teams", { id, component });
    await send("POST", `/v1/teams/${id}/runs?wait=60`, { task: question, user: place.user });
    const { messages } = await send<{ messages: { type: string; content: unknown }[] }>(
      "GET",
      `/v1/teams/${id}/messages`,
    );
    const event = messages.find(({ type }) => type === "MemoryQueryEvent");
    const recalled = event?.content as Found["memories"];
    const query = new URLSearchParams({ ...place, q: question, limit: "10" });
    const { memories } = await send<Found>("GET", `/v1/memories?${query.toString()}`);
    expect(memories).toHaveLength(10);
    expect(recalled.map(({ content }) => content)).toEqual(memories.map(({ content }) => content));
  });

  test("is found in a collection as by plain BM25 with stemming", async () => {
    const { turns } = conversation;
    const sessions = Map.groupBy(turns, ({ id }) => id.split(":")[0] ?? "");
    const collection = `talks-${count}`;
    const documents = [...sessions].map(([session, said]) => ({
      session,
      lines: said.map(({ speaker, day, text }) => `${speaker} said on ${day}: ${text}`),
    }));
    for (const { session, lines } of documents) {
      await send("PUT", `/v1/collections/${collection}/documents/${session}`, {
        mime_type: "text/plain",
        content: lines.join("\n\n"),
      });
    }
    interface Part {
      document: string;
      chunk: number;
      content: string;
    }
    const parts: Part[] = [];
    for (const { session } of documents) {
      const path = `/v1/collections/${collection}/documents/${session}/chunks?limit=100`;
      const { chunks } = await send<{ chunks: Part[] }>("GET", path);
      parts.push(...chunks.map((chunk) => ({ ...chunk, document: session })));
    }
    const ranking = referenceRanking(parts.map(({ content }) => content));
    const nameOf = ({ document, chunk }: Part): string => `${document} ${chunk}`;
    for (const { text } of questions.slice(0, 20)) {
      const path = `/v1/collections/${collection}/search`;
      const { results } = await send<{ results: Part[] }>("POST", path, { q: text, k: 10 });
      const plain = ranking(text).slice(0, 10);
      const expected = plain.map((index) => nameOf(parts[index] as Part));
      const found = results.map(nameOf);
      // Words that share a part with those of the question come below those that are the same.
      expect(found).toEqual(expect.arrayContaining(expected.slice(0, 3)));
    }
  });
});
