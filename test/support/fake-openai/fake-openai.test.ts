import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { startFakeOpenAI } from "./server.ts";

const user = (content: string) => ({ role: "user" as const, content });

const clientOf = (url: string) => new OpenAI({ baseURL: url, apiKey: "key", maxRetries: 0 });

test("a repeated request gets the same answer, and another one another", async () => {
  await using fake = await startFakeOpenAI();
  const client = clientOf(fake.url);
  const ask = async (...texts: string[]) => {
    const request = { model: "gpt-4o", messages: texts.map(user) };
    return (await client.chat.completions.create(request)).choices[0]?.message.content;
  };
  const first = await ask("hello");
  expect(first).toContain("hello");
  expect(await ask("hello")).toBe(first);
  expect(await ask("before", "hello")).not.toBe(first);
});

test("a rule may match any message, and its answer may name the request that it was given to", async () => {
  await using fake = await startFakeOpenAI({
    rules: [{ name: "secret", match: { any: "sesame" }, reply: { content: "Open, {digest}." } }],
  });
  const client = clientOf(fake.url);
  const ask = async (...texts: string[]) => {
    const request = { model: "gpt-4o", messages: texts.map(user) };
    return (await client.chat.completions.create(request)).choices[0]?.message.content;
  };
  const opened = await ask("sesame", "please");
  expect(opened).toMatch(/^Open, [0-9a-f]{8}\.$/);
  expect(await ask("please", "sesame")).not.toBe(opened);
  expect(await ask("please")).toMatch(/^Reply/);
});

test("a streamed answer adds up to the plain one and ends with the usage", async () => {
  await using fake = await startFakeOpenAI({
    rules: [{ name: "long", match: { text: "much" }, reply: { words: 500 } }],
  });
  const client = clientOf(fake.url);
  const request = { model: "gpt-4o", messages: [user("say much")] };
  const plain = await client.chat.completions.create(request);
  const stream = await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let usage;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage;
  }
  expect(text).toBe(plain.choices[0]?.message.content);
  expect(usage).toEqual(plain.usage);
  expect(fake.requests.at(-1)).toMatchObject({ rule: "long", chunks: 503 });
});

test("the fake refuses the requests that OpenAI refuses, and names the reason", async () => {
  await using fake = await startFakeOpenAI({ apiKey: "key" });
  const post = async (body: unknown, path = "/chat/completions", key = "key") => {
    const response = await fetch(fake.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    return `${response.status} ${await response.text()}`;
  };
  const messages = [user("hi")];
  expect(await post({ model: "m", messages, colour: 1 })).toMatch(/^400 .*colour/);
  expect(await post({ model: "m", messages }, "/completions")).toMatch(/^400 .*does not know/);
  expect(await post({ model: "m", messages }, "/chat/completions", "other")).toMatch(/^401 /);
  const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
  const asked = [...messages, { role: "assistant", content: null, tool_calls: [call] }];
  expect(await post({ model: "m", messages: asked })).toMatch(/^400 .*without a result.*c1/);
  const result = { role: "tool", tool_call_id: "c1", content: "3" };
  expect(await post({ model: "m", messages: [...asked, result] })).toMatch(/^200 /);
  expect(await post({ model: "m", messages: [...asked, result, result] })).toMatch(/^400 .*c1/);
});

test("a rule applies a limited number of times, holds until it is released, and sees clients disconnect", async () => {
  await using fake = await startFakeOpenAI({
    rules: [
      { name: "once", times: 1, fault: { kind: "status", status: 500 } },
      { name: "wait", hold: true, reply: { content: "late" } },
    ],
  });
  const client = clientOf(fake.url);
  const request = { model: "gpt-4o", messages: [user("hi")] };
  await expect(client.chat.completions.create(request)).rejects.toMatchObject({ status: 500 });

  const controller = new AbortController();
  const left = client.chat.completions.create(request, { signal: controller.signal });
  const stayed = client.chat.completions.create(request);
  await fake.held("wait", 2);
  controller.abort();
  await expect(left).rejects.toThrow("aborted");
  await fake.log.until((requests) => requests.some(({ state }) => state === "aborted"));
  fake.release("wait");
  expect((await stayed).choices[0]?.message.content).toBe("late");
  await fake.idle();
  expect(fake.requests.map(({ state }) => state).toSorted()).toEqual(["aborted", "done", "done"]);
});

test("a rule holds in the middle of a stream, too, at each position again", async () => {
  await using fake = await startFakeOpenAI({
    rules: [
      { name: "wait", hold: true, hold_after: [3, 5], reply: { content: "a b c d e f g h" } },
    ],
  });
  const stream = await clientOf(fake.url).chat.completions.create({
    model: "gpt-4o",
    messages: [user("hi")],
    stream: true,
  });
  let text = "";
  const read = (async () => {
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
  })();
  await fake.held("wait");
  fake.release("wait");
  fake.rules.hold("wait");
  await fake.held("wait");
  await expect.poll(() => text.length).toBeGreaterThan(3);
  expect(text).not.toContain("h");
  fake.release("wait");
  await read;
  expect(text).toBe("a b c d e f g h");
});

test("the fake runs as a process of its own and is controlled over HTTP", async () => {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, "--port", "0"]);
  const lines = createInterface({ input: child.stdout });
  try {
    const [line] = (await once(lines, "line")) as [string];
    const { url, origin } = JSON.parse(line) as { url: string; origin: string };
    const control = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`${origin}/control${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await control("PUT", "/rules", [{ name: "x", holdd: true }])).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("holdd") as string },
    });
    await control("PUT", "/rules", [{ name: "x", hold: true, reply: { content: "yes" } }]);
    const reply = clientOf(url).chat.completions.create(
      { model: "gpt-4o", messages: [user("hi")] },
      { headers: { "Idempotency-Key": "k1" } },
    );
    expect(await control("GET", "/wait?rule=x&state=held")).toMatchObject({ status: 200 });
    await control("POST", "/release", { name: "x" });
    expect((await reply).choices[0]?.message.content).toBe("yes");
    expect(await control("GET", "/requests")).toMatchObject({
      body: [{ rule: "x", idempotency_key: "k1", body: { messages: [user("hi")] } }],
    });
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
});
