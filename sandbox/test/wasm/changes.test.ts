import { describe, expect, test } from "vitest";
import type { WorkspaceChange } from "../../runner.ts";
import { changeFrames, ChangeReader } from "../../wasm/changes.ts";
import { encodeFrame, encodeJson, FRAME, FrameReader, HEAD_BYTES } from "../../wasm/frames.ts";

const LIMITS = { bytes: 1_000_000, entries: 10 };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Reads frames that arrive in pieces of a size. */
function read(frames: Iterable<Uint8Array>, pieceBytes = 1000): WorkspaceChange {
  const all = Buffer.concat([...frames]);
  const reader = new FrameReader(300_000);
  const change = new ChangeReader(LIMITS);
  for (let at = 0; at < all.length; at += pieceBytes)
    for (const { type, body } of reader.push(all.subarray(at, at + pieceBytes)))
      change.take(type, body);
  return change.end();
}

test.for([1, 7, 100_000])("a change arrives unchanged, in pieces of %i bytes", (pieceBytes) => {
  const big = new Uint8Array(300_000).map((_, at) => at);
  const change: WorkspaceChange = {
    removed: ["gone", "old/ü"],
    set: [
      { path: "d", type: "directory" },
      { path: "d/empty", type: "file", content: bytes(""), mode: 0o600 },
      { path: "l", type: "link", target: "../../etc/passwd" },
    ],
  };
  const file = { path: "d/big", type: "file", content: big, mode: 0o755 } as const;
  const frames = changeFrames({ ...change, set: [...change.set, file] });
  const { removed, set } = read(frames, pieceBytes);
  const arrived = set.pop();
  expect({ removed, set }).toEqual(change);
  expect(arrived).toMatchObject({ path: "d/big", mode: 0o755 });
  // Comparing element by element takes seconds.
  expect(arrived?.type === "file" && Buffer.compare(arrived.content, big)).toBe(0);
});

describe("a child process is not trusted", () => {
  const file = (said: object): Uint8Array =>
    encodeJson(FRAME.file, { path: "f", mode: 0o644, size: 3, ...said });
  const data = (text: string): Uint8Array => encodeFrame(FRAME.data, bytes(text));

  test.for<[string, Uint8Array[], RegExp]>([
    ["a path that climbs", [file({ path: "../f" })], /outside/],
    ["a path that climbs later", [encodeJson(FRAME.removed, { path: "a/../../b" })], /outside/],
    ["an absolute path", [file({ path: "/etc/passwd" })], /outside/],
    ["an empty name", [encodeJson(FRAME.directory, { path: "a//b" })], /outside/],
    ["a NUL", [file({ path: "a\0b" })], /invalid path/],
    ["a path without end", [file({ path: "a/".repeat(5000) })], /invalid path/],
    ["no path", [encodeJson(FRAME.directory, {})], /invalid path/],
    ["a link without a target", [encodeJson(FRAME.link, { path: "l" })], /target/],
    ["a size below zero", [file({ size: -1 })], /number/],
    ["an invalid size", [file({ size: "3" })], /number/],
    ["a file that is too big", [file({ size: 2_000_000 })], /too many bytes/],
    [
      "files that are too big together",
      [file({ size: 600_000 }), file({ size: 600_000 })],
      /incomplete/,
    ],
    ["data of no file", [data("x")], /without a file/],
    ["more data than was said", [file({}), data("1234")], /without a file/],
    ["a file that does not end", [file({}), data("1")], /incomplete/],
    ["a file that another cuts off", [file({}), data("1"), file({})], /incomplete/],
    [
      "entries without end",
      Array.from({ length: 50 }, () => encodeJson(FRAME.directory, { path: "d" })),
      /too many entries/,
    ],
    ["no JSON", [encodeFrame(FRAME.file, bytes("{"))], /JSON/],
  ])("when it reports %s", ([, frames, message]) => {
    expect(() => read(frames)).toThrow(message);
  });

  test("when it begins a frame that is too long", () => {
    const head = new Uint8Array(HEAD_BYTES).fill(255);
    expect(() => [...new FrameReader(1000).push(head)]).toThrow(/4294967295 bytes/);
  });
});
