import {
  type ActivityFrame,
  type Answer,
  Conversation,
  type HumanRequest,
  type Message,
  type RunInfo,
  type TextInProgress,
} from "troupe/client";
import { type Fields, isFields, type ToolAnswer, type ToolCaller, wordsIn } from "./tool-answer.ts";

/** A run as the page shows it. */
export interface RunState {
  /** The run; undefined until the server has named it. */
  run: RunInfo | undefined;
  messages: readonly Message[];
  texts: readonly TextInProgress[];
  activity: ActivityFrame | null;
  mayAnswer: boolean;
  mayStop: boolean;
  /** The words of a call that began no run. */
  refused: string | undefined;
  /** Why the run cannot be read now. */
  error: Error | undefined;
}

/** The answer of the tool that reads a run. */
interface RunPart {
  frames: { event?: string; data: object }[];
  cursor: number;
  seen: string;
  more: boolean;
  may_answer: boolean;
  may_stop: boolean;
}

interface PlaceOfRun {
  team_id: string;
  run_id: string;
}

/** A call that waits for its run, as far as the page knows it. */
interface WaitingCall {
  team_id?: string;
  call: { tool?: string; task?: string };
}

/** Seconds that a read waits for changes: hosts give up calls after a minute. */
const WAIT_SECONDS = 20;
/** Between two reads of a run that changes. */
const PAUSE_MS = 400;
/** Between two attempts to find the run of a call. */
const SEARCH_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;

const NOTHING: RunState = {
  run: undefined,
  messages: [],
  texts: [],
  activity: null,
  mayAnswer: false,
  mayStop: false,
  refused: undefined,
  error: undefined,
};

/** The run of a tool's call, read over the host until it ends. */
export class ShownRun {
  readonly #host: ToolCaller;
  readonly #listeners = new Set<() => void>();
  #state = NOTHING;
  #place: PlaceOfRun | undefined;
  /** True for a place that was searched: the call's own result counts more. */
  #isSearched = false;
  /** Ends the reading of an earlier place, and the search. */
  #reading = new AbortController();
  #conversation = new Conversation();
  /** Frames of a run have its task only where it has changed. */
  #task: RunInfo["task"] = null;

  constructor(host: ToolCaller) {
    this.#host = host;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  read = (): RunState => this.#state;

  /** The call has been made, and has no result yet. */
  called(call: WaitingCall | PlaceOfRun): void {
    if ("run_id" in call) this.#show(call);
    else if (this.#place === undefined) void this.#search(call, this.#restart());
  }

  finished(result: ToolAnswer): void {
    const place = placeIn(result);
    if (place !== undefined) {
      this.#isSearched = false;
      this.#show(place);
    } else if (this.#place === undefined || this.#isSearched) {
      this.#restart();
      this.#place = undefined;
      this.#set({ ...NOTHING, refused: wordsIn(result) || "The call has no run." });
    }
  }

  cancelled(): void {
    if (this.#place !== undefined) return;
    this.#restart();
    this.#set({ refused: "The call was cancelled." });
  }

  /** @throws Error */
  async answer({ id }: Pick<HumanRequest, "id">, answer: Answer): Promise<void> {
    const given = { ...this.#place, request_id: id, ...answer, wait_seconds: 0 };
    await this.#host.callTool("answer_request", given);
  }

  /** @throws Error */
  async stop(): Promise<void> {
    await this.#host.callTool("stop_run", { ...this.#place });
  }

  #restart(): AbortSignal {
    this.#reading.abort();
    this.#reading = new AbortController();
    return this.#reading.signal;
  }

  #show(place: PlaceOfRun): void {
    const { team_id, run_id } = this.#place ?? {};
    if (place.team_id === team_id && place.run_id === run_id) return;
    this.#place = place;
    this.#conversation = new Conversation();
    this.#task = null;
    this.#state = NOTHING;
    void this.#follow(place, this.#restart());
  }

  async #search(call: WaitingCall, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const found = await this.#host
        .callTool("read_run", { ...call })
        .then(placeIn)
        .catch(() => undefined); // The call's own result follows.
      if (signal.aborted) return;
      if (found !== undefined) {
        this.#isSearched = true;
        return this.#show(found);
      }
      await pause(SEARCH_MS, signal);
    }
  }

  async #follow({ team_id, run_id }: PlaceOfRun, signal: AbortSignal): Promise<void> {
    const place = { team_id, run_id };
    let last: Pick<RunPart, "cursor" | "seen"> | undefined;
    for (let failures = 0; !signal.aborted;) {
      try {
        const result = await this.#host.callTool("read_run", {
          ...place,
          ...(last && { after: last.cursor, seen: last.seen }),
          wait_seconds: last === undefined ? 0 : WAIT_SECONDS,
        });
        if (signal.aborted) return;
        const part = result.structuredContent as unknown as RunPart;
        const hasMoved = part.cursor !== (last?.cursor ?? 0);
        last = part;
        failures = 0;
        this.#apply(part);
        if (part.more && hasMoved) continue;
        if (!part.more && (this.#state.run?.ended_at ?? null) !== null) return;
        await pause(PAUSE_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#set({ error: error as Error });
        await pause(Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** failures++), signal);
      }
    }
  }

  #apply({ frames, more, may_answer: mayAnswer, may_stop: mayStop }: RunPart): void {
    const conversation = this.#conversation;
    // An answer that is complete names the steps under way; one without them means that there are none.
    let activity = more ? this.#state.activity : null;
    for (const { event, data } of frames) {
      const whole = event === "run" ? this.#withTask(data) : data;
      for (const item of conversation.apply({ event, data: JSON.stringify(whole) })) {
        if (item.kind === "activity") activity = item.activity;
      }
    }
    const { messages, texts } = conversation;
    const run = conversation.run ?? undefined;
    if (run?.status !== "running") activity = null;
    this.#set({ run, messages, texts, activity, mayAnswer, mayStop, error: undefined });
  }

  #withTask(run: Partial<RunInfo>): object {
    this.#task = run.task ?? this.#task;
    return { ...run, task: this.#task };
  }

  #set(changes: Partial<RunState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }
}

/** The run that a result is about; undefined for none. */
function placeIn({ structuredContent, _meta }: ToolAnswer): PlaceOfRun | undefined {
  return placeOf(_meta?.["troupe/run"]) ?? placeOf(structuredContent);
}

/** The run that fields name; undefined where they name none. */
export function placeOf(fields: unknown): PlaceOfRun | undefined {
  const { team_id, run_id }: Fields = isFields(fields) ? fields : {};
  return typeof team_id === "string" && typeof run_id === "string"
    ? { team_id, run_id }
    : undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
