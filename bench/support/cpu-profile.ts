import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, join, relative, resolve } from "node:path";

interface Frame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  samples: number[];
  /** Microseconds before each sample. */
  timeDeltas: number[];
}

/** Microseconds between samples. */
const INTERVAL_US = 100;

/** Takes CPU profiles of a Worker, by the inspector of its runtime. */
export class Profiler implements Disposable {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (result: unknown) => void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
      if (id !== undefined) this.#answers.get(id)?.(result);
    });
  }

  /** @param inspector the origin of the runtime's inspector */
  static async connect(inspector: string): Promise<Profiler> {
    const targets = (await (await fetch(`${inspector}/json`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    const [target] = targets;
    if (target === undefined) throw new Error("The inspector has no Worker");
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await new Promise((opened, failed) => {
      socket.addEventListener("open", opened, { once: true });
      socket.addEventListener("error", failed, { once: true });
    });
    const profiler = new Profiler(socket);
    await profiler.#call("Profiler.enable");
    await profiler.#call("Profiler.setSamplingInterval", { interval: INTERVAL_US });
    return profiler;
  }

  /** The profile of what a Worker does for `work`. */
  async during(work: () => Promise<void>): Promise<Profile> {
    await this.#call("Profiler.start");
    await work();
    const { profile } = (await this.#call("Profiler.stop")) as { profile: Profile };
    return profile;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((answered) => {
      this.#answers.set(id, answered);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}

const ROOT = join(import.meta.dirname, "../..");

/** Names of V8 for time outside of functions. */
const OUTSIDE: Readonly<Record<string, string>> = {
  "(program)": "workerd, outside of JavaScript",
  "(garbage collector)": "garbage collector",
};

/** Finds the source of functions in a bundle. */
export class Rooms {
  readonly #directory: string;
  readonly #maps = new Map<string, SourceMap | undefined>();

  /** @param directory has the bundle's files and their source maps */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Milliseconds by room: a folder of `src`, two levels deep, or a package. A function of the runtime counts for its caller. */
  times({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
    const rooms = new Map<number, string | undefined>();
    const callers = new Map<number, number>();
    for (const { id, callFrame, children = [] } of nodes) {
      for (const child of children) callers.set(child, id);
      const { functionName, url } = callFrame;
      const source = this.#sourceOf(callFrame);
      const room = source === undefined ? undefined : roomOf(source);
      rooms.set(id, room ?? (url === "" ? OUTSIDE[functionName] : undefined));
    }
    const times = new Map<string, number>();
    for (const [index, sample] of samples.entries()) {
      let node: number | undefined = sample;
      while (node !== undefined && rooms.get(node) === undefined) node = callers.get(node);
      // What has no caller with a source waits.
      if (node === undefined) continue;
      const room = rooms.get(node) ?? "";
      // A sample that comes late was waited for: the thread slept, or another process had the processor.
      const microseconds = Math.min(timeDeltas[index] ?? 0, 2 * INTERVAL_US);
      times.set(room, (times.get(room) ?? 0) + microseconds / 1000);
    }
    return times;
  }

  #sourceOf({ url, lineNumber, columnNumber }: Frame): string | undefined {
    if (url === "") return undefined;
    const file = join(this.#directory, url.replace(/^file:\/+/, ""));
    let map = this.#maps.get(file);
    if (!this.#maps.has(file)) {
      const path = `${file}.map`;
      map = existsSync(path)
        ? new SourceMap(JSON.parse(readFileSync(path, "utf8")) as SourceMapPayload)
        : undefined;
      this.#maps.set(file, map);
    }
    const entry = map?.findEntry(lineNumber, columnNumber);
    if (entry === undefined || !("originalSource" in entry)) return undefined;
    return relative(ROOT, resolve(dirname(file), entry.originalSource));
  }
}

function roomOf(source: string): string {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source) ?? [];
  if (name !== undefined) return name;
  return dirname(source).split("/").slice(0, 3).join("/");
}
