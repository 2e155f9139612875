import { join } from "node:path";
import { build } from "esbuild";
import { chatAgent } from "./agents.ts";
import type { Exchange, Journey, TraceEvent, TraceInput } from "./trace.ts";

const TRACES = ["langgraphPythonTests", "langgraphTypescriptTests"];

/** The dojo's golden traces of its agentic chat with LangGraph, recorded with the mock model. */
export async function langgraphJourneys(e2e: string): Promise<Journey[]> {
  const read = TRACES.map(async (tests) => {
    const traces = await tracesIn(join(e2e, "tests", tests, "agenticChatPage.event-trace.ts"));
    return Object.entries(traces).map(([journey, events]) => ({
      name: `${tests} ${journey}`,
      component: chatAgent(),
      exchanges: exchangesIn(events),
    }));
  });
  return (await Promise.all(read)).flat();
}

/** The journeys of a module of the dojo's tests, without the browser that the module imports for them. */
async function tracesIn(path: string): Promise<Record<string, TraceEvent[]>> {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    format: "esm",
    plugins: [
      {
        name: "traces",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /event-trace-test$/ }, () => ({ path: "-", namespace: "traces" }));
          onLoad({ filter: /./, namespace: "traces" }, () => ({
            contents: "export const defineEventTrace = (url, journeys) => journeys;",
          }));
        },
      },
    ],
  });
  const code = Buffer.from(outputFiles[0]!.contents).toString("base64");
  const module = (await import(`data:text/javascript;base64,${code}`)) as object;
  return Object.values(module)[0] as Record<string, TraceEvent[]>;
}

/** Each run of a journey begins with the request that started it. */
function exchangesIn(events: readonly TraceEvent[]): Exchange[] {
  const exchanges: { input: TraceInput; events: TraceEvent[] }[] = [];
  for (const event of events) {
    if (event.type === "RUN_STARTED") {
      exchanges.push({ input: event["input"] as TraceInput, events: [] });
    }
    exchanges.at(-1)?.events.push(event);
  }
  return exchanges;
}
