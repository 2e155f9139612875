import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { KillableWorker } from "../support/killable-worker.ts";

test.each([
  // The server asks for two seconds, then for one more than the patience has left.
  ["patience", { for_seconds: 2.5 }, ["2000", "1000", "1000"], 2],
  ["attempts", { attempts: 3 }, ["50", "2000", "50", "50"], 3],
])(
  "the remaining %s of a model's client does not grow after kill -9",
  async (_, retry, waits, asked) => {
    await using fake = await startFakeOpenAI({
      rules: waits.map((wait, index) => ({
        name: `refusal ${index}`,
        times: 1,
        fault: { kind: "status", status: 503, headers: { "retry-after-ms": wait } },
      })),
    });
    await using worker = await KillableWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
    const team = await new TroupeClient({ baseURL: worker.origin }).teams.create({
      component: {
        provider: "AssistantAgent",
        config: {
          name: "helper",
          description: "",
          model_client: {
            provider: "OpenAIChatCompletionClient",
            config: { model: "gpt-4o", base_url: fake.url, api_key: "k", retry },
          },
        },
      },
    });
    let killed = false;
    const follow = async (): Promise<void> => {
      for await (const item of team.run("Say it.")) {
        const isLong = item.kind === "retrying" && waits[item.retrying.attempt - 1] === "2000";
        if (killed || !isLong) continue;
        // Its answer leaves the object when the wait is stored.
        await team.get();
        killed = true;
        await worker.kill();
        await worker.restart();
      }
    };
    await expect(follow()).rejects.toThrow("503");
    expect(killed).toBe(true);
    expect(fake.requests).toHaveLength(asked);
  },
);
