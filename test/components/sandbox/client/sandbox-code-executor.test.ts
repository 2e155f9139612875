import { inspect } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  CodeExecutorAgent,
  SandboxClient,
  SandboxCodeExecutor,
  run,
  runStream,
  type SandboxCodeExecutorOptions,
} from "troupe";
import type { CodeBlock, CodeResult, SandboxError, StepAttempt } from "troupe";
import {
  FakeSandbox,
  openStream,
  refused,
  type SandboxReply,
  sendEvent,
  streamed,
} from "../../../support/fake-sandbox.ts";

const KEY = "a-key-nobody-may-see";
const BLOCKS: CodeBlock[] = [
  { language: "python", code: "print('é')" },
  { language: "sh", code: "ls" },
];
const DONE = { exit_code: 0, output: "done\n", truncated: false, duration_ms: 3 };

function executor(
  sandbox: FakeSandbox,
  options: Partial<SandboxCodeExecutorOptions> = {},
): SandboxCodeExecutor {
  return new SandboxCodeExecutor({ url: sandbox.url, apiKey: KEY, ...options });
}

/** Runs the blocks to their end. */
async function execute(
  subject: SandboxCodeExecutor,
  attempt: Partial<StepAttempt> = {},
  blocks = BLOCKS,
): Promise<{ pieces: string[]; result: CodeResult }> {
  const pieces: string[] = [];
  const running = subject.executeCodeBlocks(blocks, {
    attempt: 1,
    idempotencyKey: "run/1/code:0",
    signal: new AbortController().signal,
    ...attempt,
  });
  for (;;) {
    const next = await running.next();
    if (next.done) return { pieces, result: next.value };
    pieces.push(next.value);
  }
}

async function failureOf(promise: Promise<unknown>): Promise<SandboxError> {
  return promise.then(
    (value) => {
      throw new Error(`it did not fail: ${inspect(value)}`);
    },
    (error: unknown) => error as SandboxError,
  );
}

describe("a request to the sandbox", () => {
  test("contains the blocks, the time limit and a key, and yields output as it arrives", async () => {
    await using sandbox = await FakeSandbox.start();
    let goOn = (): void => {};
    sandbox.expectExecute(async (response) => {
      openStream(response);
      sendEvent(response, "output", { text: "do" });
      response.write(": ping\n\n");
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      sendEvent(response, "output", { text: "ne\n" });
      sendEvent(response, "result", DONE);
      response.end();
    });
    const signal = new AbortController().signal;
    const running = executor(sandbox, { timeout: 7 }).executeCodeBlocks(BLOCKS, {
      attempt: 1,
      idempotencyKey: "run/1/code:0",
      session: "team/1",
      signal,
    });
    expect(await running.next()).toEqual({ done: false, value: "do" });
    goOn();
    expect(await running.next()).toEqual({ done: false, value: "ne\n" });
    expect(await running.next()).toEqual({ done: true, value: { exit_code: 0, output: "done\n" } });

    const [call] = sandbox.calls;
    expect(call?.path).toBe("/v1/sessions/team%2F1/execute");
    expect(JSON.parse(call?.body ?? "")).toEqual({
      code_blocks: BLOCKS.map(({ language, code }) => ({ language, code })),
      timeout_seconds: 7,
    });
    expect(call?.headers).toMatchObject({
      accept: "text/event-stream",
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
      "idempotency-key": expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    });
  });

  test("reads the images that the code wrote, and names one that cannot be read", async () => {
    await using sandbox = await FakeSandbox.start();
    const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
    const files = ["gone.png", "plot.PNG", "data.csv", "fake.jpg"];
    sandbox.expectExecute(streamed({ ...DONE, files }));
    sandbox.expect("GET", refused(404));
    sandbox.expect("GET", (response) => void response.end(png));
    sandbox.expect("GET", (response) => void response.end("a text"));
    const { result } = await execute(executor(sandbox, { session: "s" }));
    expect(result).toEqual({
      exit_code: 0,
      output: "done\n",
      files,
      images: [
        { path: "gone.png", data: null },
        { path: "plot.PNG", data: png.toString("base64") },
      ],
    });
    expect(sandbox.calls.slice(1).map(({ path }) => path)).toEqual([
      "/v1/sessions/s/files/gone.png",
      "/v1/sessions/s/files/plot.PNG",
      "/v1/sessions/s/files/fake.jpg",
    ]);
  });

  test("has the same key for the same code of a step, and another for any other", async () => {
    await using sandbox = await FakeSandbox.start();
    const subject = executor(sandbox, { session: "s" });
    sandbox.expectExecute(...Array.from({ length: 4 }, () => streamed(DONE)));
    await execute(subject);
    await execute(subject, { attempt: 2 });
    await execute(subject, { idempotencyKey: "run/1/code:1" });
    await execute(subject, {}, [{ language: "python", code: "print(2)" }]);
    const keys = sandbox.calls.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
  });

  test("shows that the code waits or starts again, beside its output", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute((response) => {
      openStream(response);
      sendEvent(response, "waiting", { reason: "places" });
      sendEvent(response, "running", {});
      sendEvent(response, "output", { text: "do" });
      sendEvent(response, "waiting", { reason: "interrupted" });
      sendEvent(response, "running", {});
      sendEvent(response, "output", { text: "done\n" });
      sendEvent(response, "result", DONE);
      response.end();
    });
    const { pieces, result } = await execute(executor(sandbox, { session: "s" }));
    expect(pieces.join("")).toMatch(
      /^\[Waiting: the sandbox is busy.*\]\ndo\n\[Interrupted, .*\]\ndone\n$/,
    );
    expect(result).toEqual({ exit_code: 0, output: "done\n" });
  });

  test("reports output beyond the limit", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute(streamed({ ...DONE, truncated: true }));
    const { result } = await execute(executor(sandbox, { session: "s" }));
    expect(result.output).toBe("done\n\n[There was more output.]");
  });

  test("is part of an agent's turn, which streams the output", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute(
      refused(503, {}, { "retry-after-ms": "1" }),
      streamed({ exit_code: 0, output: "1\n2\n" }, "1\n", "2\n"),
    );
    const agent = new CodeExecutorAgent({
      name: "runner",
      codeExecutor: executor(sandbox, { session: "s" }),
      modelClientStream: true,
    });
    const contents: unknown[] = [];
    for await (const item of runStream(agent, { task: "```python\nprint(1)\n```" })) {
      if ("content" in item) contents.push(item.content);
    }
    expect(contents.slice(1).join("|")).toMatch(/^1\n(\||)2\n\|1\n2\n$/);
    const [first, second] = sandbox.calls.map(({ headers }) => headers["idempotency-key"]);
    expect(second).toBe(first);
  });
});

describe("the session of an executor", () => {
  const sessionsOf = (sandbox: FakeSandbox): string[] =>
    sandbox.calls.map(({ method, path }) => `${method} ${path.replace(/\/execute$/, "")}`);

  test("is the team's if it has one", async () => {
    await using sandbox = await FakeSandbox.start();
    const subject = executor(sandbox);
    sandbox.expectExecute(streamed(DONE));
    await execute(subject, { session: "team" });
    await subject.close();
    expect(sessionsOf(sandbox)).toEqual(["POST /v1/sessions/team"]);
  });

  test("is a given one, which stays", async () => {
    await using sandbox = await FakeSandbox.start();
    const subject = executor(sandbox, { session: "mine" });
    sandbox.expectExecute(streamed(DONE));
    await execute(subject, { session: "team" });
    await subject.close();
    expect(sessionsOf(sandbox)).toEqual(["POST /v1/sessions/mine"]);
  });

  test("is the executor's own elsewhere, until it is closed", async () => {
    await using sandbox = await FakeSandbox.start();
    const subject = executor(sandbox);
    sandbox.expectExecute(streamed(DONE), streamed(DONE));
    sandbox.expect("DELETE", (response) => void response.writeHead(204).end());
    sandbox.expectExecute(streamed(DONE));
    await execute(subject);
    await execute(subject);
    await subject.close();
    await subject.close();
    await execute(subject);
    const [first, second, removed, next] = sessionsOf(sandbox);
    expect(second).toBe(first);
    expect(removed).toBe(first?.replace("POST", "DELETE"));
    expect(next).not.toBe(first);
  });
});

describe("a sandbox that has no result", () => {
  const passing: Record<string, SandboxReply> = {
    "answers 408": refused(408),
    "answers 500": refused(500),
    "answers 502 with a page": (response) => void response.writeHead(502).end("<html>"),
    "answers 503": refused(503),
    "answers 504": refused(504),
    "says so in the stream": (response) => {
      openStream(response);
      sendEvent(response, "error", { status: 503, detail: "going down" });
      response.end();
    },
    "ends the stream without a result": (response) => {
      openStream(response);
      sendEvent(response, "output", { text: "a" });
      response.end();
    },
    "breaks the connection": (response) => {
      openStream(response);
      response.write("event: output\n", () => response.destroy());
    },
    "hangs up at once": (response) => void response.destroy(),
    "sends what is not JSON": (response) => {
      openStream(response);
      response.end("event: result\ndata: {\n\n");
    },
    "sends what is not a result": streamed({ exit_code: "0" }),
    "is another service": (response) => void response.end("Hello."),
  };

  test.each(Object.entries(passing))(
    "because it %s is asked again, and the last answer is the result",
    async (_, reply) => {
      await using sandbox = await FakeSandbox.start();
      sandbox.expectExecute(reply, reply, reply);
      const error = await failureOf(execute(executor(sandbox, { session: "s" })));
      expect(error).toMatchObject({ code: "sandbox_unavailable", retryable: true });
      const codeExecutor = executor(sandbox, { session: "s", retry: { attempts: 2 } });
      const runner = new CodeExecutorAgent({ name: "runner", codeExecutor });
      const { messages } = await run(runner, { task: "```python\nprint(1)\n```" });
      expect(messages.at(-1)).toMatchObject({
        content: expect.stringContaining(`${error.message} (2 attempts in 1 second)`),
      });
    },
  );

  test("because no server listens is asked again", async () => {
    const { url } = await using(await FakeSandbox.start());
    const subject = new SandboxCodeExecutor({ url, session: "s" });
    const error = await failureOf(execute(subject));
    expect(error).toMatchObject({ code: "sandbox_unavailable", retryable: true, unsent: true });
    // Addresses are the operator's business.
    expect(error.message).toBe("the sandbox cannot be reached");
  });

  test("because it is busy is asked again at the time that it names", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute(refused(429, { detail: "Too many wait." }, { "retry-after": "2" }));
    const error = await failureOf(execute(executor(sandbox, { session: "s" })));
    expect(error).toMatchObject({ retryable: true, status: 429, retryAfterMs: 2000 });
    expect(error.message).toBe(
      "the sandbox answered HTTP 429: Too many wait. (the server asks for a wait of 2 seconds)",
    );
  });

  test("because it is silent is asked again, and one that pings is waited for", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute(
      (response) => openStream(response),
      () => {},
      async (response) => {
        openStream(response);
        // Together longer than the silence that is allowed, each far shorter.
        for (let pings = 0; pings < 30; pings++) {
          response.write(": ping\n\n");
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        sendEvent(response, "result", DONE);
      },
    );
    const subject = executor(sandbox, { session: "s", silenceMs: 500 });
    for (let times = 0; times < 2; times++) {
      const error = await failureOf(execute(subject));
      expect(error).toMatchObject({ code: "sandbox_unavailable", retryable: true });
      expect(error.message).toBe("the sandbox sent nothing for 0.5 seconds");
    }
    expect((await execute(subject)).result.output).toBe("done\n");
  });

  test("does not include one whose client reads slowly", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute(streamed(DONE, "do"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const running = executor(sandbox, { silenceMs: 60_000 }).executeCodeBlocks(BLOCKS, {
      attempt: 1,
      idempotencyKey: "k",
      session: "s",
      signal: new AbortController().signal,
    });
    await running.next();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await running.next()).toMatchObject({ done: true });
  });

  test.each([400, 401, 403, 404, 409, 422, 501])(
    "because it refuses with %i is not asked again",
    async (status) => {
      await using sandbox = await FakeSandbox.start();
      const problem = { detail: "No.", errors: [{ path: "timeout_seconds", message: "is long" }] };
      sandbox.expectExecute(refused(status, problem));
      const error = await failureOf(execute(executor(sandbox, { session: "s" })));
      expect(error).toMatchObject({ code: "sandbox_refused", retryable: false, status });
      expect(error.message).toBe(
        `the sandbox refused: HTTP ${status}: No. timeout_seconds is long`,
      );
    },
  );

  test("because it redirects is not followed", async () => {
    await using elsewhere = await FakeSandbox.start();
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute((response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/sessions/s/execute` }).end();
    });
    const error = await failureOf(execute(executor(sandbox, { session: "s" })));
    expect(error.code).toBe("sandbox_refused");
    expect(elsewhere.calls).toEqual([]);
  });

  test.each([
    ["too long", 413, []],
    ["in too many blocks", 422, [{ path: "code_blocks", message: "are too many" }]],
  ])("because the code is %s gives a result that says so", async (_, status, errors) => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute(refused(status, { detail: "Not that much.", errors }));
    const { result } = await execute(executor(sandbox, { session: "s" }));
    expect(result).toMatchObject({ exit_code: 1 });
    expect(result.output).toContain("Not that much.");
    for (const { message } of errors) expect(result.output).toContain(message);
  });

  test("never shows the key", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expectExecute(refused(401, { detail: `"Bearer ${KEY}" is wrong.` }));
    const subject = executor(sandbox, { session: "s" });
    const error = await failureOf(execute(subject));
    expect(error.message).toContain('"Bearer [redacted]" is wrong.');
    expect(inspect({ error, subject }, { depth: 9, showHidden: true })).not.toContain(KEY);
    expect(JSON.stringify(subject.toConfig())).not.toContain(KEY);
  });
});

describe("a cancelled run", () => {
  test("stops the code, and ends with the signal's reason", async () => {
    await using sandbox = await FakeSandbox.start();
    const cancelled = new AbortController();
    sandbox.expectExecute((response) => {
      openStream(response);
      sendEvent(response, "output", { text: "a" });
    });
    sandbox.expect("DELETE", (response) => void response.writeHead(204).end());
    const running = executor(sandbox).executeCodeBlocks(BLOCKS, {
      attempt: 1,
      idempotencyKey: "k",
      session: "s",
      signal: cancelled.signal,
    });
    await running.next();
    const end = failureOf(running.next());
    cancelled.abort(new Error("the run was cancelled"));
    expect((await end).message).toBe("the run was cancelled");
    const [execution, cancel] = sandbox.calls;
    const key = String(execution?.headers["idempotency-key"]);
    expect(cancel?.path).toBe(`/v1/sessions/s/executions/${key}`);
    expect(cancel?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test("does not wait for a sandbox that does not respond", async () => {
    await using sandbox = await FakeSandbox.start();
    const cancelled = new AbortController();
    sandbox.expectExecute(() => cancelled.abort(new Error("the run was cancelled")));
    sandbox.expect("DELETE", () => {});
    const { signal } = cancelled;
    const error = await failureOf(execute(executor(sandbox, { session: "s" }), { signal }));
    expect(error.message).toBe("the run was cancelled");
  });
});

describe("the client of the sandbox", () => {
  test("asks for the languages", async () => {
    await using sandbox = await FakeSandbox.start();
    const languages = [{ name: "python", aliases: ["py"], version: "3.14" }];
    sandbox.expect("GET", (response) => void response.end(JSON.stringify({ languages })));
    sandbox.expect("GET", refused(401));
    const client = new SandboxClient({ url: `${sandbox.url}/` });
    expect(await client.languages()).toEqual(languages);
    await expect(client.languages()).rejects.toMatchObject({ code: "sandbox_refused" });
    expect(sandbox.calls[0]?.path).toBe("/v1/languages");
    expect(sandbox.calls[0]?.headers.authorization).toBeUndefined();
  });

  test("accepts that a file to be deleted does not exist", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expect("DELETE", refused(404));
    sandbox.expect("DELETE", refused(500));
    const client = new SandboxClient({ url: sandbox.url });
    await client.deleteSession("a b");
    await expect(client.deleteSession("s")).rejects.toMatchObject({ retryable: true });
    expect(sandbox.calls[0]?.path).toBe("/v1/sessions/a%20b");
  });

  test.each(["", "sandbox", "ftp://a", "http://u:p@a", "http://a/?b", "http://a/#c"])(
    "refuses the address %j",
    (url) => {
      expect(() => new SandboxClient({ url })).toThrow(/url of the sandbox/);
    },
  );
});

/** Ends it at once: what stays is where it was. */
async function using(sandbox: FakeSandbox): Promise<{ url: string }> {
  const { url } = sandbox;
  await sandbox[Symbol.asyncDispose]();
  return { url };
}

describe("the environment of code", () => {
  const env = { API_KEY: "env:TEST_API_KEY", MODE: "fast-mode" };
  const dependencies = { env: () => "sk-0123456789" };

  function withEnv(sandbox: FakeSandbox): SandboxCodeExecutor {
    return new SandboxCodeExecutor({ url: sandbox.url, env }, dependencies);
  }

  const health =
    (body: object): SandboxReply =>
    (response) => {
      response.end(JSON.stringify(body));
    };

  test("is sent with its secrets to a sandbox that accepts one, and removed from the output", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expect("GET", health({ status: "ok", env: true }));
    const output = "key sk-0123456789\nc2stMDEyMzQ1Njc4OQ== fast-mode";
    sandbox.expectExecute(
      streamed(
        { ...DONE, output, files: ["sk-0123456789.txt"] },
        "key sk-01",
        "23456789\nc2stMD",
        "EyMzQ1Njc4OQ==",
      ),
      streamed(DONE),
    );
    const subject = withEnv(sandbox);
    const { pieces, result } = await execute(subject);
    expect(pieces.join("")).toBe("key [redacted]\n[redacted]Q==");
    expect(result).toEqual({
      exit_code: 0,
      output: "key [redacted]\n[redacted]Q== [redacted]",
      files: ["[redacted].txt"],
    });
    await execute(subject, { idempotencyKey: "run/2/code:0" });
    const bodies = sandbox.calls.filter(({ method }) => method === "POST");
    expect(bodies.map(({ body }) => (JSON.parse(body) as { env: object }).env)).toEqual([
      { API_KEY: "sk-0123456789", MODE: "fast-mode" },
      { API_KEY: "sk-0123456789", MODE: "fast-mode" },
    ]);
    expect(subject.toConfig()).toEqual({ timeout: 60, env });
  });

  test("is an error with a sandbox that would run the code without it", async () => {
    await using sandbox = await FakeSandbox.start();
    sandbox.expect("GET", health({ status: "ok" }));
    const error = await failureOf(execute(withEnv(sandbox)));
    expect(error).toMatchObject({ code: "sandbox_refused", retryable: false });
    expect(error.message).toMatch(/does not take environment variables.*was not run: update/);
  });

  test("is refused with an invalid name, or one that the sandbox reserves", () => {
    for (const name of ["A-B", "PATH", "LD_PRELOAD"]) {
      const options = { url: "http://127.0.0.1:1", env: { [name]: "1" } };
      expect(() => new SandboxCodeExecutor(options)).toThrow(`env.${name} `);
    }
  });
});
