// A process that runs the blocks of one session. Its parent writes frames to descriptor 3 and reads them from 4.
//
//     node main.ts make <plan>                          writes a snapshot of Python and ends
//     node main.ts serve <snapshot> <files> <imports>   runs blocks until its parent closes the pipe

import { readFileSync, readSync, writeSync } from "node:fs";
import type { WorkspaceChange } from "../../runner.ts";
import { ChangeReader, changeFrames } from "../changes.ts";
import {
  type BlockReport,
  type BlockRequest,
  CHUNK_BYTES,
  decodeHead,
  encodeFrame,
  encodeJson,
  FRAME,
  FrameReader,
  HEAD_BYTES,
} from "../frames.ts";
import { Output } from "./output.ts";
import type { SnapshotPlan } from "./packages.ts";
import { makeSnapshot, PLOTTING, Python } from "./python.ts";
import { stripRealm } from "./realm.ts";
import { FOLDERS } from "./scratch.ts";
import { Shell } from "./shell.ts";

const FROM_PARENT = 3;
const TO_PARENT = 4;

const [, , task, given = "", ...others] = process.argv;
if (task === "make") await make();
else await serve();

async function make(): Promise<void> {
  const prelude = readFileSync(new URL("prelude.py", import.meta.url), "utf8");
  const plan = JSON.parse(given) as SnapshotPlan;
  const { memory, files, ...about } = await makeSnapshot(prelude, plan);
  for (const part of changeFrames(files)) send(part);
  for (let at = 0; at < memory.length; at += CHUNK_BYTES)
    send(encodeFrame(FRAME.snapshot, memory.subarray(at, at + CHUNK_BYTES)));
  send(encodeJson(FRAME.ready, about));
}

async function serve(): Promise<void> {
  const [files = "", imports = ""] = others;
  const modules = JSON.parse(imports) as string[];
  const python = await Python.start(readFileSync(given), readFiles(files), modules);
  const shell = new Shell(python);
  stripRealm();
  send(encodeJson(FRAME.ready, { python: python.version, failures: python.failures }));
  let change = unlimited();
  for (;;) {
    const frame = receive();
    if (frame === undefined) return;
    if (change.take(frame.type, frame.body)) continue;
    if (frame.type === FRAME.update) {
      python.scratch.apply(change.end());
      change = unlimited();
      send(encodeJson(FRAME.updated, {}));
    } else if (frame.type === FRAME.folders) {
      python.scratch.mount(change.end());
      change = unlimited();
      send(encodeJson(FRAME.updated, {}));
    } else if (frame.type === FRAME.run) {
      const request = JSON.parse(new TextDecoder().decode(frame.body)) as BlockRequest;
      const report = await runBlock(python, shell, request);
      for (const part of changeFrames(python.scratch.changes())) send(part);
      send(encodeJson(FRAME.report, report));
      // Restores the interpreter after the report, so that no request waits for it.
      python.settle();
      python.scratch.clearTemporary();
    }
  }
}

/** The files of the packages, which the parent stored as `make` has sent them. */
function readFiles(path: string): WorkspaceChange {
  const change = unlimited();
  for (const { type, body } of new FrameReader(CHUNK_BYTES).push(readFileSync(path)))
    change.take(type, body);
  return change.end();
}

/** Without limits: the child trusts its parent. */
function unlimited(): ChangeReader {
  return new ChangeReader({ bytes: Infinity, entries: Infinity });
}

async function runBlock(python: Python, shell: Shell, request: BlockRequest): Promise<BlockReport> {
  const output = new Output((bytes) => send(encodeFrame(FRAME.output, bytes)));
  const print = (bytes: Uint8Array) => output.write(bytes);
  python.scratch.limit({ bytes: request.workspaceBytes, entries: request.workspaceFiles });
  const limits = {
    deadline: performance.now() + request.timeoutMs,
    memoryBytes: request.memoryBytes,
    tick: () => output.tick(),
  };
  const end =
    request.language === "shell"
      ? await shell.run(request, print, limits)
      : python.run(
          {
            mode: "code",
            source: request.code,
            argv: ["main.py"],
            cwd: "/workspace",
            path: "/workspace",
            environment: {
              HOME: "/workspace",
              PATH: "/usr/bin:/bin",
              PWD: "/workspace",
              LANG: "C.UTF-8",
              SANDBOX_FOLDERS: FOLDERS,
              ...PLOTTING,
              ...request.env,
            },
          },
          { stdin: new Uint8Array(0), stdout: print, stderr: print },
          limits,
        );
  if (end.kind === "crashed") print(new TextEncoder().encode(`\nStopped: ${end.message}.\n`));
  output.flush();
  return {
    exitCode: end.exitCode,
    ...(end.kind === "exit" ? {} : { endedBy: end.kind }),
    // Commands of a shell that was stopped may still be running.
    spent: python.spent || (end.kind === "timeout" && request.language === "shell"),
  };
}

function send(frame: Uint8Array): void {
  for (let at = 0; at < frame.length;) at += writeSync(TO_PARENT, frame, at);
}

/** The next frame, or undefined when the parent has ended. */
function receive(): { type: number; body: Uint8Array } | undefined {
  const head = receiveBytes(HEAD_BYTES);
  if (head === undefined) return undefined;
  const { type, length } = decodeHead(head);
  const body = receiveBytes(length);
  return body && { type, body };
}

function receiveBytes(count: number): Uint8Array | undefined {
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count;) {
    const read = readSync(FROM_PARENT, bytes, at, count - at, null);
    if (read === 0) return undefined;
    at += read;
  }
  return bytes;
}
