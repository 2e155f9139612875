import { mkdtemp, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RunError, type TeamClient, TroupeClient } from "#client/index.ts";
import type { RetryingFrame } from "#contract/stream/stream-frame.ts";
import type { RunInfo } from "#contract/run.ts";
import { EgressProxy } from "#cli/server/front/egress-proxy.ts";
import { AgentServer, type Work } from "../components/a2a/support/agent-server.ts";
import { McpServerProcess } from "../components/mcp/support/server-process.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { EchoServer } from "../support/echo-server.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { freePort } from "../support/ports.ts";
import { Sandbox } from "../support/sandbox.ts";

let proxy: EgressProxy;
/** Its requests that must not happen twice go over the proxy, as those of `npm start` do. */
let worker: KillableWorker;
let sandboxPort: number;
let data: string;

const startSandbox = (): Promise<Sandbox> =>
  Sandbox.start({ data, settings: { SANDBOX_PORT: String(sandboxPort) } });

beforeAll(async () => {
  proxy = new EgressProxy("127.0.0.1");
  await proxy.listen();
  sandboxPort = await freePort();
  data = await mkdtemp(join(tmpdir(), "sandbox-data-"));
  worker = await KillableWorker.start({
    TROUPE_EGRESS_PROXY: proxy.url,
    SANDBOX_URL: `http://127.0.0.1:${sandboxPort}`,
    SANDBOX_KEY: "a-key-for-tests-only",
    SECRETS_KEY: btoa("k".repeat(32)),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  proxy.close();
  await rm(data, { recursive: true, force: true });
});

/** An agent whose model calls the tool `name` once. Its answer is the tool's result. */
const caller = (name: string, workbench: object) => ({
  provider: "AssistantAgent",
  config: {
    name: "clerk",
    description: "",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{is_error}: {result}",
    workbench: [workbench],
    model_client: {
      provider: "ReplayChatCompletionClient",
      config: {
        chat_completions: [
          {
            finish_reason: "function_calls",
            content: [{ id: "c", name, arguments: JSON.stringify({ text: "hello" }) }],
            usage: { prompt_tokens: 1, completion_tokens: 1 },
            cached: false,
          },
        ],
        model_info: {
          vision: false,
          function_calling: true,
          json_output: false,
          structured_output: false,
          family: "unknown",
        },
      },
    },
  },
});

const httpTool = (port: number, config: object) =>
  caller("say", {
    provider: "StaticWorkbench",
    config: {
      tools: [
        {
          provider: "HttpTool",
          config: {
            name: "say",
            host: "127.0.0.1",
            port,
            json_schema: { type: "object", properties: { text: { type: "string" } } },
            ...config,
          },
        },
      ],
    },
  });

const mcp = (server_params: object) =>
  caller("echo", { provider: "McpWorkbench", config: { server_params } });

const remote = (port: number, config: object = {}) => ({
  provider: "troupe.agents.A2AAgent",
  config: { name: "remote", url: `http://127.0.0.1:${port}/agent`, ...config },
});

const runner = (config: object = {}) => ({
  provider: "CodeExecutorAgent",
  config: {
    name: "runner",
    code_executor: { provider: "troupe.code_executors.SandboxCodeExecutor", config },
  },
});

const answers: Work = (about) => {
  about.say(`You said ${about.text}.`);
  return Promise.resolve();
};

const CODE = '```python\nprint("it ran")\n```';

async function teamOf(component: object, at = worker): Promise<TeamClient> {
  return new TroupeClient({ baseURL: at.origin }).teams.create({ component: component as never });
}

interface Run {
  run: RunInfo;
  /** The failed attempts that were followed by another one. */
  retries: RetryingFrame[];
  /** What was said last. */
  said: unknown;
}

/** Runs a task to its end. @param onRetry called for each failed attempt that is followed by another one */
async function play(
  team: TeamClient,
  task: string,
  onRetry: (frame: RetryingFrame, run: string) => unknown = () => undefined,
): Promise<Run> {
  const retries: RetryingFrame[] = [];
  const only = async (): Promise<string> => (await team.runs()).runs[0]!.id;
  const ended = (async () => {
    for await (const item of team.run(task)) {
      if (item.kind !== "retrying") continue;
      retries.push(item.retrying);
      await onRetry(item.retrying, await only());
    }
  })();
  await ended.catch((error: unknown) => {
    if (!(error instanceof RunError)) throw error;
  });
  const run = await team.getRun(await only());
  const last = run.result?.messages.at(-1);
  return { run, retries, said: last && "content" in last ? last.content : undefined };
}

interface Away {
  component: object;
  task?: string;
  start(): Promise<AsyncDisposable>;
  said: string;
}

const echoAway = async (config: object): Promise<Away> => {
  const port = await freePort();
  const start = () => EchoServer.start(undefined, port);
  return { component: httpTool(port, config), start, said: "False: ok" };
};

describe("a server that is away for a while", () => {
  test.each<[what: string, make: () => Promise<Away>]>([
    ["a GET", () => echoAway({ method: "GET" })],
    ["a POST that must not happen twice", () => echoAway({})],
    ["a POST of the policy ask", () => echoAway({ policy: "ask" })],
    [
      "MCP",
      async () => {
        const server = await McpServerProcess.start("modern");
        await server.kill();
        const start = () => server.start().then(() => server);
        return { component: mcp(server.params), start, said: "False: echo: hello" };
      },
    ],
    [
      "A2A",
      async () => {
        const port = await freePort();
        const start = () => AgentServer.start(answers, {}, port);
        return { component: remote(port), start, said: "You said go." };
      },
    ],
    [
      "code",
      () =>
        Promise.resolve({
          component: runner(),
          task: CODE,
          start: startSandbox,
          said: "it ran\n",
        }),
    ],
  ])("makes the run wait for %s", async (_what, make) => {
    const { component, task = "go", start, said } = await make();
    await using started = new AsyncDisposableStack();
    const team = await teamOf(component);
    const outcome = await play(team, task, async ({ attempt }) => {
      if (attempt === 1) started.use(await start());
    });
    expect(outcome.run).toMatchObject({ status: "completed", requests: [] });
    expect(outcome.said).toBe(said);
    expect(outcome.retries[0]).toMatchObject({ attempt: 1, step: expect.any(String) });
  });

  test("leaves code whose sandbox is killed with a result of the next sandbox", async () => {
    const first = await startSandbox();
    await using started = new AsyncDisposableStack();
    const code = 'import time\nopen("begun", "w").close()\ntime.sleep(2)\nprint("it ran")';
    const team = await teamOf(runner());
    const files = async () => (await team.files()).files.map(({ path }) => path);
    const kill = expect
      .poll(files)
      .toEqual(["begun"])
      .then(() => first.kill());
    const { run, said } = await play(team, `\`\`\`python\n${code}\n\`\`\``, async ({ attempt }) => {
      if (attempt !== 1) return;
      await kill;
      started.use(await startSandbox());
    });
    expect(run.status).toBe("completed");
    expect(said).toBe("it ran\n");
  });

  test.each([
    ["a GET", (port: number, retry: object) => httpTool(port, { method: "GET", retry })],
    ["a POST", (port: number, retry: object) => httpTool(port, { retry })],
  ])("gives the model an error after the time of the policy for %s", async (_what, component) => {
    const team = await teamOf(component(await freePort(), { attempts: 2 }));
    const { run, said, retries } = await play(team, "go");
    expect(run.status).toBe("completed");
    expect(said).toMatch(
      /^True: "127\.0\.0\.1:\d+" cannot be reached: .* \(2 attempts in \d+ seconds?\)$/,
    );
    expect(retries).toHaveLength(1);
  });

  test.each([
    [
      "MCP",
      (url: string, retry: object) => mcp({ type: "StreamableHttpServerParams", url, retry }),
    ],
    ["A2A", (url: string, retry: object) => remote(Number(new URL(url).port), { retry })],
  ])("fails the run after the time of the policy for %s", async (_what, component) => {
    const url = `http://127.0.0.1:${await freePort()}/mcp`;
    const { run } = await play(await teamOf(component(url, { for_seconds: 0.6 })), "go");
    // A busy machine tries less often in the same time.
    const { attempts = 0 } = run.error ?? {};
    expect(run.status).toBe("failed");
    expect([2, 3]).toContain(attempts);
    expect(run.error?.message).toMatch(new RegExp(`\\(${attempts} attempts in \\d+ seconds?\\)$`));
  });

  test("makes the agent report the failure of code after the time of the policy", async () => {
    const { run, said } = await play(await teamOf(runner({ retry: { attempts: 2 } })), CODE);
    expect(run.status).toBe("completed");
    expect(said).toMatch(/the sandbox cannot be reached \(2 attempts in \d+ seconds?\)/);
  });

  test.each([["stop"], ["pause"]] as const)("ends its wait at once after a %s", async (how) => {
    const port = await freePort();
    const team = await teamOf(httpTool(port, { policy: "never" }));
    let status: string | undefined;
    const { run, said } = await play(team, "go", async ({ attempt }, id) => {
      if (attempt !== 3) return;
      // The wait has two seconds left.
      if (how === "stop") await team.stop(id, "now");
      else {
        await team.pause(id);
        ({ status } = await team.getRun(id));
        await using server = await EchoServer.start(undefined, port);
        await team.resume(id);
        await expect.poll(() => server.requests.length).toBe(1);
      }
    });
    if (how === "stop") return expect(run.status).toBe("cancelled");
    expect(status).toBe("paused");
    expect([run.status, said]).toEqual(["completed", "False: ok"]);
  });
});

describe("a request that must not happen twice", () => {
  const cut = (response: ServerResponse): void => void response.destroy();
  const busy = (response: ServerResponse): void =>
    void response.writeHead(503, { "retry-after": "1" }).end();

  test.each([
    ["never", "cuts the connection", cut],
    ["ask", "cuts the connection", cut],
    ["never", "asks for a wait", busy],
    ["ask", "asks for a wait", busy],
  ] as const)(
    "is not repeated with the policy %s to a server that %s",
    async (policy, _what, answer) => {
      await using server = await EchoServer.start(answer);
      const { run, retries, said } = await play(
        await teamOf(httpTool(server.port, { policy })),
        "go",
      );
      expect(run.status).toBe("completed");
      expect(said).toMatch(/^True: /);
      expect([server.requests.length, retries.length]).toEqual([1, 0]);
    },
  );

  test.each(["never", "ask"])(
    "waits with the policy %s for its server over kill -9",
    async (policy) => {
      const port = await freePort();
      await using started = new AsyncDisposableStack();
      const team = await teamOf(httpTool(port, { policy, retry: { attempts: 5 } }));
      let server: EchoServer | undefined;
      const { run, said, retries } = await play(team, "go", async ({ attempt }) => {
        if (attempt !== 3 || server !== undefined) return;
        // Its answer leaves the object when the wait is stored.
        await team.get();
        await worker.kill();
        server = started.use(await EchoServer.start(undefined, port));
        await worker.restart();
      });
      expect(run).toMatchObject({ status: "completed", requests: [] });
      expect(said).toBe("False: ok");
      expect(server?.requests).toHaveLength(1);
      expect(Math.max(...retries.map(({ attempt }) => attempt))).toBe(3);
    },
  );

  test("is made once over MCP by a server that went away after it had listed its tools", async () => {
    await using server = await McpServerProcess.start("modern");
    await using fake = await startFakeOpenAI({
      rules: [
        {
          name: "call",
          hold: true,
          reply: { tool_calls: [{ name: "pay", arguments: { amount: 5 } }] },
        },
      ],
    });
    const component = mcp(server.params);
    const model_client = {
      provider: "OpenAIChatCompletionClient",
      config: { model: "gpt-4o", base_url: fake.url, api_key: "k" },
    };
    const team = await teamOf({ ...component, config: { ...component.config, model_client } });
    const killed = fake.log
      .until((requests) => requests.length > 0)
      .then(() => server.kill())
      .then(() => fake.release("call"));
    const { run, said, retries } = await play(team, "go", async ({ attempt }) => {
      await killed;
      if (attempt === 1) await server.start();
    });
    expect(run.status).toBe("completed");
    expect(said).toBe("False: paid 5");
    expect(retries[0]).toMatchObject({ attempt: 1, error: { type: "mcp_connection" } });
  });

  test("is not repeated if the runtime does not report at which point the connection failed", async () => {
    await using plain = await KillableWorker.start();
    const port = await freePort();
    const { run, retries, said } = await play(await teamOf(httpTool(port, {}), plain), "go");
    expect(run.status).toBe("completed");
    expect(said).toMatch(/^True: "127\.0\.0\.1:\d+" cannot be reached: /);
    expect(retries).toEqual([]);
  });
});
