import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Sandbox } from "../../test/support/sandbox.ts";
import { readUntil } from "../../test/support/read-until.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.start({
    settings: {
      SANDBOX_OUTPUT_BYTES: "1000",
      SANDBOX_MAX_OUTPUT_BYTES: "1000000",
      SANDBOX_CONCURRENCY: "2",
      SANDBOX_RESERVED: "0",
      SANDBOX_MAX_WAITING: "3",
      SANDBOX_MAX_TIMEOUT_SECONDS: "90",
    },
  });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

interface Result {
  exit_code: number;
  output: string;
  truncated: boolean;
  duration_ms: number;
}

async function run(...args: Parameters<Sandbox["execute"]>): Promise<Result> {
  const response = await sandbox.execute(...args);
  expect(response.status).toBe(200);
  return (await response.json()) as Result;
}

async function code(response: Response): Promise<string> {
  return ((await response.json()) as { code: string }).code;
}

const EVENTS = { accept: "text/event-stream" };

/** The frames of a stream that has ended. */
function frames(text: string): { event: string; data: Record<string, unknown> }[] {
  return [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, event = "", data = ""]) => ({
    event,
    data: JSON.parse(data) as Record<string, unknown>,
  }));
}

/** What was printed while it came, and the last frame. */
function told(text: string): { printed: string; last: ReturnType<typeof frames>[number] } {
  const all = frames(text);
  const last = all.pop()!;
  expect(all.every(({ event }) => event === "output")).toBe(true);
  return { printed: all.map(({ data }) => data.text).join(""), last };
}

/** Asks for a stream. Resolves with what is still to come of it once the code has printed something. */
async function begin(
  ...[session, blocks, options]: Parameters<Sandbox["execute"]>
): Promise<{ rest: () => Promise<string> }> {
  const response = await admitted(session, blocks, options);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = await readUntil(reader, /event: output/);
  const rest = async (): Promise<string> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += value;
    }
  };
  return { rest };
}

/** Asks for a stream. Resolves once the request was taken on, though it may wait. */
async function admitted(
  ...[session, blocks, options]: Parameters<Sandbox["execute"]>
): Promise<Response> {
  const response = await sandbox.execute(session, blocks, { ...options, headers: EVENTS });
  expect(response.status).toBe(200);
  return response;
}

describe("blocks of code", () => {
  test("run in their order, share files, and end at the first failure", async () => {
    const result = await run("order", [
      ["javascript", "require('fs').writeFileSync('n.txt', '7'); console.log('written')"],
      ["sh", "cat n.txt; echo oops >&2; exit 3"],
      ["sh", "echo never"],
    ]);
    expect(result).toEqual({
      exit_code: 3,
      output: "written\n7oops\n",
      truncated: false,
      duration_ms: expect.any(Number) as number,
      files: ["n.txt"],
    });
  });

  test("that have an unknown language fail when it is their turn", async () => {
    const result = await run("languages", [
      ["JS", "console.log(1)"],
      ["cobol", ""],
    ]);
    expect(result).toMatchObject({
      exit_code: 1,
      output: expect.stringMatching(/^1\nUnknown language "cobol". There are: .*sh/) as string,
    });
  });

  test("have the timeout each, and their files stay", async () => {
    const result = await run(
      "timeout",
      [
        ["sh", "sleep 0.6; echo one"],
        ["sh", "sleep 0.6; echo two > two.txt; echo two; sleep 60"],
        ["sh", "echo never"],
      ],
      { timeout: 1 },
    );
    expect(result).toMatchObject({
      exit_code: 124,
      output: "one\ntwo\nThe code was stopped after 1 s.\n",
    });
    expect((await run("timeout", [["sh", "cat two.txt"]])).output).toBe("two\n");
  });

  test("may print more than is kept, with a limit", async () => {
    const long = await run("output", [["js", "console.log('é'.repeat(600))"]]);
    expect(long).toMatchObject({ exit_code: 0, output: "é".repeat(500), truncated: true });
    const endless = await run("output", [["sh", "yes"]]);
    expect(endless).toMatchObject({
      exit_code: 1,
      output: `${"y\n".repeat(500)}The code was stopped: it printed more than 1000000 bytes.\n`,
      truncated: true,
    });
  });
});

describe("the stream of an execution", () => {
  test("has output while it arrives and ends with the result", async () => {
    const response = await sandbox.execute(
      "stream",
      [["sh", "echo a; touch a; sleep 0.2; echo b"]],
      {
        headers: EVENTS,
      },
    );
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const text = await response.text();
    expect(frames(text).map(({ data }) => data.text)).toEqual(["a\n", "b\n", undefined]);
    expect(told(text).last).toMatchObject({
      event: "result",
      data: { exit_code: 0, output: "a\nb\n", truncated: false },
    });
  });

  test("has the earlier output of an execution in progress", async () => {
    const blocks = [["sh", "echo a; sleep 0.1; echo b"]] as const;
    const first = await begin("join", blocks, { key: "k" });
    const joined = await sandbox.execute("join", blocks, { key: "k", headers: EVENTS });
    const [one, two] = await Promise.all([first.rest(), joined.text()]);
    const recorded = await sandbox.execute("join", blocks, { key: "k", headers: EVENTS });
    for (const text of [one, two, await recorded.text()])
      expect(told(text)).toMatchObject({ printed: "a\nb\n", last: told(one).last });
  });
});

describe("a key of an execution", () => {
  const append = [["sh", "echo x >> log; wc -l < log"]] as const;

  test("runs its code once", async () => {
    const first = await run("once", append, { key: "k" });
    expect(first.output.trim()).toBe("1");
    expect(await run("once", append, { key: "k" })).toEqual(first);
    expect((await run("once", append, { key: "k2" })).output.trim()).toBe("2");
    expect((await run("two", append, { key: "k" })).output.trim()).toBe("1");
  });

  test("is for one request", async () => {
    await run("mismatch", append, { key: "k" });
    for (const [blocks, timeout] of [
      [[["sh", "echo y"]], undefined],
      [append, 7],
    ] as const) {
      const options = { key: "k", ...(timeout !== undefined && { timeout }) };
      const response = await sandbox.execute("mismatch", blocks, options);
      expect([response.status, await code(response)]).toEqual([409, "idempotency_mismatch"]);
    }
  });

  test("lets code continue when its client has disconnected, and code without one ends", async () => {
    const client = new AbortController();
    const { signal } = client;
    const begun = [
      await begin("gone0", [["sh", "echo a; sleep 0.3; echo x > done"]], { key: "k", signal }),
      await begin("gone1", [["sh", "echo a; sleep 60; echo x > done"]], { signal }),
    ];
    client.abort();
    for (const { rest } of begun) await expect(rest()).rejects.toThrow();
    const [kept, dropped] = await Promise.all([
      run("gone0", [["sh", "cat done"]]),
      run("gone1", [["sh", "ls"]]),
    ]);
    expect([kept.output, dropped.output]).toEqual(["x\n", ""]);
  });

  test("cancels running and waiting code, and nothing of it is kept", async () => {
    const blocks = [
      ["sh", "touch made-before"],
      ["sh", "ls; touch made; [ -e go-on ] || sleep 60"],
    ] as const;
    await begin("cancel", blocks, { key: "running" });
    const running = await admitted("cancel", blocks, { key: "running" });
    const waiting = await admitted("cancel", append, { key: "waiting" });
    const cancel = async (key: string): Promise<number> =>
      (await sandbox.request(`/v1/sessions/cancel/executions/${key}`, { method: "DELETE" })).status;
    const [one, two, none] = await Promise.all(["running", "waiting", "other"].map(cancel));
    expect([one, two, none]).toEqual([204, 204, 404]);
    expect(told(await running.text()).last.data).toMatchObject({
      exit_code: 125,
      output: "made-before\nThe code was cancelled.\n",
    });
    expect(told(await waiting.text()).last.data).toMatchObject({
      exit_code: 125,
      output: "The code was cancelled.\n",
    });
    expect(await cancel("running")).toBe(404);
    await run("cancel", [["sh", "touch go-on"]]);
    const again = await run("cancel", blocks, { key: "running" });
    expect(again).toMatchObject({ exit_code: 0, output: "go-on\nmade-before\n" });
  });
});

describe("sessions", () => {
  test("run side by side, each one request at a time", async () => {
    await begin("side-a", [["sh", "echo a; sleep 60"]], { key: "k" });
    expect((await run("side-b", [["sh", "echo b"]])).output).toBe("b\n");
    await sandbox.request("/v1/sessions/side-a/executions/k", { method: "DELETE" });
    const sleep = [["sh", "date +%s%N; sleep 0.1; date +%s%N"]] as const;
    const again = await Promise.all([run("side-a", sleep), run("side-a", sleep)]);
    const times = again
      .map(({ output }) => output.trim().split("\n").map(Number))
      .toSorted(([x], [y]) => x! - y!);
    expect(times[0]![1]! <= times[1]![0]!).toBe(true);
  });

  test("are refused beyond the number that may wait, and can come back", async () => {
    const blocks = [["sh", "sleep 60"]] as const;
    const sessions = ["crowd0", "crowd1", "crowd2", "crowd3", "crowd4"];
    for (const session of sessions) await admitted(session, blocks, { key: "k" });
    const refused = await sandbox.execute("crowd5", blocks);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await code(refused)).toBe("too_many_waiting");
    const joined = await admitted("crowd4", blocks, { key: "k" });
    await Promise.all(
      sessions.map((session) => sandbox.request(`/v1/sessions/${session}`, { method: "DELETE" })),
    );
    expect(told(await joined.text()).last.data).toMatchObject({ exit_code: 125 });
    expect((await run("crowd5", [["sh", "echo x"]])).output).toBe("x\n");
  });

  test("are removed with their running code, and start over", async () => {
    const blocks = [["sh", "echo x; sleep 60"]] as const;
    await sandbox.request("/v1/sessions/removed/files/old", { method: "PUT", body: "old" });
    await begin("removed", blocks, { key: "k" });
    const running = await admitted("removed", blocks, { key: "k" });
    const removed = await sandbox.request("/v1/sessions/removed", { method: "DELETE" });
    expect(removed.status).toBe(204);
    expect(told(await running.text()).last.data).toMatchObject({ exit_code: 125 });
    expect((await run("removed", [["sh", "ls"]], { key: "k" })).output).toBe("");
    const list = await sandbox.request("/v1/sessions/removed/files");
    expect(await list.json()).toEqual({ files: [], next_cursor: null });
  });
});
