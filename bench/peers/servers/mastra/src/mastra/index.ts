// The application that `mastra build` bundles.

import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";

const { BENCH_MODEL, BENCH_UPSTREAM, BENCH_SYSTEM, BENCH_DATABASE } = process.env;

export const mastra = new Mastra({
  storage: new LibSQLStore({ id: "bench", url: `file:${BENCH_DATABASE}` }),
  agents: {
    assistant: new Agent({
      id: "assistant",
      name: "assistant",
      instructions: BENCH_SYSTEM ?? "",
      model: { id: `bench/${BENCH_MODEL}`, url: BENCH_UPSTREAM ?? "", apiKey: "bench" },
      maxRetries: 0,
      memory: new Memory({ options: { lastMessages: 20 } }),
    }),
  },
});
