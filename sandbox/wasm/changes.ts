import type { WorkspaceChange, WorkspaceEntry } from "../runner.ts";
import { CHUNK_BYTES, encodeFrame, encodeJson, FRAME } from "./frames.ts";

/** Encodes a change as frames, in the order in which they must be applied: removed paths first. */
export function* changeFrames(change: WorkspaceChange): Generator<Uint8Array> {
  for (const path of change.removed) yield encodeJson(FRAME.removed, { path });
  for (const entry of change.set) yield* entryFrames(entry);
}

function* entryFrames(entry: WorkspaceEntry): Generator<Uint8Array> {
  switch (entry.type) {
    case "directory":
      yield encodeJson(FRAME.directory, { path: entry.path });
      return;
    case "link":
      yield encodeJson(FRAME.link, { path: entry.path, target: entry.target });
      return;
    case "file": {
      const { path, mode, content } = entry;
      yield encodeJson(FRAME.file, { path, mode, size: content.length });
      for (let at = 0; at < content.length; at += CHUNK_BYTES)
        yield encodeFrame(FRAME.data, content.subarray(at, at + CHUNK_BYTES));
    }
  }
}

/** The limits of one change. */
export interface ChangeLimits {
  bytes: number;
  entries: number;
}

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

/** Decodes a change from frames, without trusting them. */
export class ChangeReader {
  readonly #limits: ChangeLimits;
  readonly #change: WorkspaceChange = { set: [], removed: [] };
  #bytes = 0;
  #file: { content: Uint8Array; filled: number } | undefined;

  constructor(limits: ChangeLimits) {
    this.#limits = limits;
  }

  /** Takes a frame if it is part of a change. @throws Error for an invalid frame */
  take(type: number, body: Uint8Array): boolean {
    if (type === FRAME.data) {
      this.#data(body);
      return true;
    }
    const isChange =
      type === FRAME.file ||
      type === FRAME.link ||
      type === FRAME.directory ||
      type === FRAME.removed;
    if (!isChange) return false;
    this.#whole();
    const said = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
    const path = checkedPath(said.path);
    const { set, removed } = this.#change;
    if (set.length + removed.length >= this.#limits.entries * 2)
      throw new Error("too many entries");
    if (type === FRAME.removed) removed.push(path);
    else if (type === FRAME.directory) set.push({ path, type: "directory" });
    else if (type === FRAME.link)
      set.push({ path, type: "link", target: checkedTarget(said.target) });
    else set.push(this.#begin(path, said));
    return true;
  }

  /** The complete change. @throws Error when a file is incomplete */
  end(): WorkspaceChange {
    this.#whole();
    return this.#change;
  }

  #begin(path: string, said: Record<string, unknown>): WorkspaceEntry {
    const size = checkedNumber(said.size);
    this.#bytes += size;
    if (this.#bytes > this.#limits.bytes) throw new Error("too many bytes");
    const content = new Uint8Array(size);
    this.#file = { content, filled: 0 };
    return { path, type: "file", content, mode: checkedNumber(said.mode) & 0o777 };
  }

  #data(body: Uint8Array): void {
    const file = this.#file;
    if (file === undefined || file.filled + body.length > file.content.length)
      throw new Error("data without a file");
    file.content.set(body, file.filled);
    file.filled += body.length;
  }

  #whole(): void {
    if (this.#file !== undefined && this.#file.filled < this.#file.content.length)
      throw new Error("an incomplete file");
    this.#file = undefined;
  }
}

function checkedPath(path: unknown): string {
  if (typeof path !== "string" || path.length > LONGEST_PATH || path.includes("\0"))
    throw new Error("an invalid path");
  for (const name of path.split("/"))
    if (name === "" || name === "." || name === ".." || name.length > LONGEST_NAME)
      throw new Error("a path outside the workspace");
  return path;
}

function checkedTarget(target: unknown): string {
  const valid =
    typeof target === "string" &&
    target !== "" &&
    target.length <= LONGEST_PATH &&
    !target.includes("\0");
  if (!valid) throw new Error("an invalid target of a link");
  return target;
}

function checkedNumber(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw new Error("an invalid number");
  return value;
}
