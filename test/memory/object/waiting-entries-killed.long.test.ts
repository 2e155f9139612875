import { expect, test } from "vitest";
import { startEmbeddingServer } from "../../support/embedding-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { KillableWorker } from "../../support/killable-worker.ts";

const model_client = {
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  config: { chat_completions: ["One.", "Two."] },
};

test.for(["team", "user"] as const)(
  "an entry that a person adds to the scope %s is embedded after a kill, and stored once",
  async (scope) => {
    await using server = await startEmbeddingServer(32);
    await using worker = await KillableWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
    const send = async <T>(path: string, body?: object): Promise<T> => {
      const response = await worker.fetch(path, body && jsonInit(body));
      expect(response.ok).toBe(true);
      return (await response.json()) as T;
    };
    const embedding = {
      provider: "troupe.embeddings.OpenAIEmbeddingClient",
      config: { model: "embedder", api_key: "k", base_url: server.url, max_retries: 0 },
    };
    const memory = [{ provider: "troupe.memory.VectorMemory", config: { scope, embedding } }];
    const component = {
      provider: "autogen_agentchat.agents.AssistantAgent",
      config: { name: "helper", model_client, memory },
    };
    const owner: [string, string] = scope === "team" ? ["team", "kept"] : ["user", "ada"];
    const place = { scope, ...Object.fromEntries([owner]) };
    const query = new URLSearchParams([owner]).toString();
    await send("/v1/teams", { id: "kept", component });
    await send("/v1/memories", { ...place, content: "thing" });
    await send("/v1/teams/kept/runs?wait=60", { task: "zzz", user: "ada" });
    const found = async (q: string): Promise<unknown[]> => {
      const path = `/v1/memories?${query}&limit=1&q=${q}`;
      const { memories } = await send<{ memories: { content: string }[] }>(path);
      return memories.map(({ content }) => content);
    };
    await expect.poll(() => found("night")).toEqual(["thing"]);

    // The server has the texts and does not answer when the process is killed.
    server.misbehave({ hangs: true });
    const contents = ["listen", "dusty", "listen"];
    await send("/v1/memories", { ...place, memories: contents.map((content) => ({ content })) });
    const inputs = (): string[] => server.requests.flatMap(({ input }) => input);
    await expect.poll(inputs).toContain("dusty");
    await worker.kill();
    server.requests.length = 0;
    server.misbehave(undefined);
    await worker.restart();
    // Nothing asks for the object: its alarm does.
    await expect.poll(inputs).toContain("dusty");
    expect(inputs()).toEqual(["listen", "dusty"]);
    await expect.poll(() => found("silent")).toEqual(["listen"]);
    expect(await found("study")).toEqual(["dusty"]);
    const { memories } = await send<{ memories: unknown[] }>(`/v1/memories?${query}`);
    expect(memories).toHaveLength(4);
  },
);
