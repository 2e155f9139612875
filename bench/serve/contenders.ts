import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { streamingTeam } from "../support/streaming-team.ts";
import { type Contender, type ContenderOptions, send, SYSTEM } from "./contender.ts";
import type { Product } from "./product.ts";
import { freePort, ServerProcess } from "./server-process.ts";
import { TroupeServer } from "./troupe-server.ts";

const execute = promisify(execFile);
const PEERS = join(import.meta.dirname, "../peers/servers");

/** Limits of a tenant that the load exceeds. */
const SETTINGS = {
  TENANT_REQUESTS_PER_SECOND: "100000",
  TENANT_RUNS_PER_MINUTE: "1000000",
  TENANT_ACTIVE_RUNS: "10000",
  TENANT_STREAMS_PER_TENANT: "10000",
  TENANT_TEAMS: "1000000",
};

/** `troupe serve` of the installed package. */
export async function startTroupe(
  product: Product,
  { upstream, model, directory }: ContenderOptions,
): Promise<Contender & { server: TroupeServer }> {
  const server = await TroupeServer.start(product, join(directory, "troupe"), upstream, SETTINGS);
  const component = streamingTeam(model, upstream);
  return {
    name: "troupe serve",
    durable: "SQLite; a run under way is finished",
    server,
    process: server.process,
    create: async () => (await server.json<{ id: string }>("POST", "/v1/teams", { component })).id,
    stream: (id) =>
      server.send(
        "POST",
        `/v1/teams/${id}/runs`,
        { task: "Hello" },
        { accept: "text/event-stream" },
      ),
    delete: async (id) => {
      await (await server.send("DELETE", `/v1/teams/${id}`)).text();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Installs the packages of the peers, unless they are. */
export async function installPeers(): Promise<void> {
  if (existsSync(join(PEERS, "node_modules/.package-lock.json"))) return;
  console.error("Installs the packages of the peers (450 MB) into bench/peers/servers.");
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await execute("npm", ["ci", ...options], { cwd: PEERS });
}

/** The server of LangGraph's command line. It needs no account. */
export async function startLangGraph({
  upstream,
  model,
  runs,
}: ContenderOptions): Promise<Contender> {
  const cwd = join(PEERS, "langgraph");
  // What an earlier server has kept.
  rmSync(join(cwd, ".langgraph_api"), { recursive: true, force: true });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const listens = ["--host", "127.0.0.1", "--port", String(port), "--no-browser", "--no-reload"];
  const process = await ServerProcess.start({
    program: join(PEERS, "node_modules/.bin/langgraphjs"),
    args: ["dev", ...listens, "--n-jobs-per-worker", String(runs)],
    cwd,
    env: {
      ...peerEnvironment(upstream, model),
      LANGGRAPH_CLI_NO_ANALYTICS: "1",
      LANGSMITH_TRACING: "false",
    },
    health: `${origin}/ok`,
  });
  return {
    name: "langgraphjs dev",
    durable: "memory, copied to a file; a run under way is lost",
    process,
    create: async () => {
      const made = await send("POST", `${origin}/threads`, {});
      return ((await made.json()) as { thread_id: string }).thread_id;
    },
    stream: (id) =>
      send("POST", `${origin}/threads/${id}/runs/stream`, {
        assistant_id: "assistant",
        input: { messages: [{ role: "user", content: "Hello" }] },
        stream_mode: "messages-tuple",
      }),
    delete: async (id) => {
      await (await send("DELETE", `${origin}/threads/${id}`)).text();
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

/** The server that `mastra build` makes, with its storage for one machine. */
export async function startMastra({
  upstream,
  model,
  directory,
}: ContenderOptions): Promise<Contender> {
  const cwd = join(PEERS, "mastra");
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = {
    ...peerEnvironment(upstream, model),
    BENCH_DATABASE: join(directory, "mastra.db"),
    MASTRA_TELEMETRY_DISABLED: "1",
    PORT: String(port),
  };
  const mastra = join(PEERS, "node_modules/.bin/mastra");
  if (!existsSync(join(cwd, ".mastra/output/index.mjs"))) {
    await execute(mastra, ["build"], { cwd, env: { ...globalThis.process.env, ...env } });
  }
  const process = await ServerProcess.start({
    program: mastra,
    args: ["start"],
    cwd,
    env,
    health: `${origin}/health`,
  });
  return {
    name: "mastra start",
    durable: "SQLite by libSQL; a run under way is lost",
    process,
    create: async () => {
      const thread = { resourceId: "bench", title: "bench" };
      const made = await send("POST", `${origin}/api/memory/threads?agentId=assistant`, thread);
      return ((await made.json()) as { id: string }).id;
    },
    stream: (id) =>
      send("POST", `${origin}/api/agents/assistant/stream`, {
        messages: "Hello",
        memory: { thread: id, resource: "bench" },
      }),
    delete: async (id) => {
      await (await send("DELETE", `${origin}/api/memory/threads/${id}?agentId=assistant`)).text();
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

function peerEnvironment(upstream: string, model: string): Record<string, string> {
  return { BENCH_UPSTREAM: upstream, BENCH_MODEL: model, BENCH_SYSTEM: SYSTEM };
}
