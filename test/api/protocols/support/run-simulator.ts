import type { HumanRequest, RunInfo, RunStatus } from "#contract/run.ts";
import type { StreamFrame, TextFrame, TurnFrame } from "#contract/stream/stream-frame.ts";
import type { TextPieces } from "#contract/stream/text-pieces.ts";
import { TextsInProgress } from "#team/stream/texts-in-progress.ts";
import type { FunctionCall, Message, ModelClientStreamingChunkEvent } from "troupe";
import type { Action, Ending } from "./actions.ts";
import { madeUpMessage } from "./made-up-messages.ts";

/** Something that happens in a run. */
export interface Happening {
  /** As connected clients get it; undefined where they are sent nothing. */
  frame: StreamFrame | undefined;
  /** The run afterwards. */
  run: RunInfo;
  /** The pieces that the frame's text was streamed in. */
  pieces: TextPieces | undefined;
  /** The texts in progress afterwards, as new clients get them. */
  texts: readonly { data: TextFrame; pieces: TextPieces }[];
}

interface OpenText {
  /** The id of its message, also where clients are not sent one. */
  id: string;
  named: boolean;
  source: string;
  content: string;
  pieces: number;
}

const TIME = "2026-11-23T04:00:00.000Z";

/** A run that carries out actions, if it can, and returns what connected clients are sent. */
export class RunSimulator {
  readonly #happenings: Happening[] = [];
  readonly #recorded: Message[] = [];
  readonly #retracted: Message[] = [];
  readonly #calls: { call: FunctionCall; source: string }[] = [];
  #texts: OpenText[] = [];
  #restarts = 0;
  #inProgress = this.#newTexts();
  #requests: HumanRequest[] = [];
  #status: RunStatus;
  #started: boolean;
  #stopReason: string | null = null;
  #ids = 0;
  #cursor = 0;
  #isOver = false;

  constructor(queued: boolean) {
    this.#status = queued ? "queued" : "running";
    this.#started = !queued;
  }

  get happenings(): readonly Happening[] {
    return this.#happenings;
  }

  get info(): RunInfo {
    return {
      id: "run-1",
      team_id: "team-1",
      status: this.#status,
      queue_position: this.#status === "queued" ? 1 : null,
      component_version: this.#started ? 1 : null,
      task: [madeUpMessage("task", "user", "TextMessage", "Hello.", TIME)] as RunInfo["task"],
      stop_reason: this.#stopReason,
      error:
        this.#status === "failed"
          ? { ...FAILURE, agent: null, turn: 1, step: null, attempts: null }
          : null,
      usage: { prompt_tokens: this.#cursor, completion_tokens: 1 },
      cost: null,
      models: {},
      turns: 0,
      turn: 1,
      requests: [...this.#requests],
      pause_requested: this.#status === "paused",
      stop_requested: null,
      retry_of: null,
      metadata: {},
      created_at: TIME,
      next_attempt_at: null,
      started_at: this.#started ? TIME : null,
      ended_at: this.#isOver ? TIME : null,
    };
  }

  /** Does nothing where the action does not fit. */
  act(action: Action): void {
    switch (this.#status) {
      case "queued":
        this.#started = true;
        this.#changed("running");
        break;
      case "paused":
        this.#changed("running");
        break;
      case "waiting":
        if (action.do === "answer") this.#answer(action.which);
        return;
      default:
    }
    this.#run(action);
  }

  /** The object that runs it is lost, with all connections. */
  interrupt(): void {
    this.#texts = [];
    this.#restarts++;
    this.#inProgress = this.#newTexts();
    this.#happens(undefined);
  }

  end(ending: Ending): void {
    // A queued run can only be cancelled.
    if (ending === null || (ending !== "cancelled" && !this.#started)) return;
    while (this.#texts.length > 0) this.#discard(0);
    if (ending !== "completed") this.#retract(2);
    this.#requests = [];
    this.#isOver = true;
    this.#status = ending;
    if (ending === "cancelled") {
      const id = this.#next();
      return this.#happens({ event: "run", id, data: this.info });
    }
    if (ending === "completed") this.#stopReason = "Maximum number of turns 3 reached.";
    this.#happens({ event: "run", data: this.info });
    const id = this.#next();
    if (ending === "failed") {
      return this.#happens({ event: "failed", id, data: { ...FAILED, run_id: this.info.id } });
    }
    const { stop_reason, usage } = this.info;
    const message_ids = this.#recorded.map((message) => message.id);
    this.#happens({
      event: "message",
      id,
      data: { type: "TaskResult", stop_reason, usage, message_ids },
    });
  }

  #run(action: Action): void {
    switch (action.do) {
      case "stream":
        return this.#stream(action);
      case "say":
        return this.#say(action);
      case "think": {
        const text = this.#textOf(action.source);
        const own = action.ofText && text !== undefined;
        const id = own ? text.id : this.#newId();
        const content = own ? text.content : action.content;
        return this.#record(madeUpMessage(id, action.source, "ThoughtEvent", content, TIME));
      }
      case "call": {
        // Models use the same id again.
        const calls = action.calls.map((call) => ({ ...call, id: `call_${this.#ids++ % 7}` }));
        const { source } = action;
        for (const call of calls) this.#calls.push({ call, source });
        return this.#record(
          madeUpMessage(this.#newId(), source, "ToolCallRequestEvent", "", TIME, {
            content: calls,
          }),
        );
      }
      case "results":
        return this.#results(action.contents, action.failed);
      case "event": {
        const { source, type, content } = action;
        return this.#record(madeUpMessage(this.#newId(), source, type, content, TIME));
      }
      case "ask":
        return this.#ask(action.source, action.kind, action.prompt);
      case "delegate":
        return this.#delegate();
      case "wait":
        if (this.#requests.length > 0) this.#rest("waiting");
        return;
      case "answer":
        return this.#answer(action.which);
      case "pause":
        return this.#rest("paused");
      case "discard":
        return this.#discard(action.which);
      case "turn":
        this.#texts = [];
        this.#inProgress.takeAll();
        return this.#happens({ event: "turn", data: this.#turn });
      case "retract":
        return this.#retract(action.last);
      case "repeat": {
        const message = this.#retracted.pop();
        if (message !== undefined) this.#record(message);
      }
    }
  }

  #stream({ source, named, content }: Extract<Action, { do: "stream" }>): void {
    let text = this.#textOf(source);
    if (text === undefined) {
      text = { id: this.#newId(), named, source, content: "", pieces: 0 };
      this.#texts.push(text);
    }
    text.content += content;
    const piece = madeUpMessage(
      `${text.id}:${text.pieces++}`,
      source,
      "ModelClientStreamingChunkEvent",
      content,
      TIME,
      { full_message_id: text.named ? text.id : null },
    );
    this.#inProgress.add(piece as ModelClientStreamingChunkEvent);
    const told = this.#inProgress.takeUnsent();
    this.#happens({ event: "message", data: piece }, told?.pieces);
  }

  #say({ source, type, streamed, content }: Extract<Action, { do: "say" }>): void {
    const text = this.#textOf(source);
    const whole = streamed ? (text?.content ?? "") + content : content;
    this.#record(madeUpMessage(text?.id ?? this.#newId(), source, type, whole, TIME));
  }

  #results(contents: readonly string[], failed: boolean): void {
    // A call that its client is asked to make has no result yet.
    const asked = new Set(this.#requests.map(({ tool_call }) => tool_call?.call_id));
    const open = this.#calls.filter(({ call }) => !asked.has(call.id));
    const [first] = open;
    if (first === undefined) return;
    const own = open.filter(({ source }) => source === first.source);
    const done = own.slice(0, contents.length);
    for (const one of done) this.#calls.splice(this.#calls.indexOf(one), 1);
    const results = done.map(({ call: { id, name } }, index) => ({
      content: contents[index] ?? "",
      name,
      call_id: id,
      is_error: failed && index === 0,
    }));
    this.#record(
      madeUpMessage(this.#newId(), first.source, "ToolCallExecutionEvent", "", TIME, {
        content: results,
      }),
    );
  }

  #ask(source: string, kind: HumanRequest["kind"], prompt: string): void {
    const id = this.#newId();
    this.#requests.push({
      id,
      kind,
      source,
      prompt,
      ...(kind === "approval" && {
        tool_call: { name: "search", arguments: { query: prompt }, call_id: `call_${id}` },
      }),
      context: { messages: [], truncated: false },
      created_at: TIME,
      expires_at: null,
    });
    if (kind === "approval") return this.#happens({ event: "run", data: this.info });
    this.#record(
      madeUpMessage(this.#newId(), source, "UserInputRequestedEvent", "", TIME, {
        request_id: id,
      }),
    );
  }

  /** The client is asked to make the calls. */
  #delegate(): void {
    const asked = new Set(this.#requests.map(({ tool_call }) => tool_call?.call_id));
    const calls = this.#calls.filter(({ call }) => !asked.has(call.id)).slice(0, 3);
    if (calls.length === 0) return;
    for (const { call, source } of calls) {
      this.#requests.push({
        id: this.#newId(),
        kind: "tool",
        source,
        prompt: "",
        tool_call: { name: call.name, arguments: {}, call_id: call.id },
        context: { messages: [], truncated: false },
        created_at: TIME,
        expires_at: null,
      });
    }
    this.#happens({ event: "run", data: this.info });
  }

  #answer(which: number): void {
    if (this.#requests.length === 0) return;
    this.#requests.splice(which % this.#requests.length, 1);
    this.#changed("running");
  }

  #discard(which: number): void {
    if (this.#texts.length === 0) return;
    const [text] = this.#texts.splice(which % this.#texts.length, 1);
    this.#inProgress.take(text!.id);
    const { full_message_id, source } = shown(text!);
    this.#happens({ event: "discard", data: { full_message_id, source } });
  }

  #retract(last: number): void {
    const messages = this.#recorded.splice(-last);
    if (messages.length === 0) return;
    this.#retracted.push(...messages);
    const data = { message_ids: [...new Set(messages.map(({ id }) => id))] };
    this.#happens({ event: "retract", id: this.#next(), data });
  }

  #record(message: Message): void {
    this.#recorded.push(message);
    const { id, source } = message;
    this.#texts = this.#texts.filter((text) => text.id !== id && text.source !== source);
    const pieces = this.#inProgress.end(message);
    this.#happens({ event: "message", id: this.#next(), data: message }, pieces);
  }

  #rest(status: "waiting" | "paused"): void {
    this.#texts = [];
    this.#inProgress.takeAll();
    this.#changed(status);
  }

  #changed(status: RunStatus): void {
    this.#status = status;
    this.#happens({ event: "run", data: this.info });
  }

  #happens(frame: StreamFrame | undefined, pieces?: TextPieces): void {
    this.#happenings.push({ frame, pieces, run: this.info, texts: this.#inProgress.shown });
  }

  #newTexts(): TextsInProgress {
    return new TextsInProgress(() => ({ after: this.#cursor, restarts: this.#restarts }));
  }

  get #turn(): TurnFrame {
    const { id, turns, turn, usage, cost, models } = this.info;
    return {
      turn: 1,
      run_id: id,
      started_at: TIME,
      ended_at: TIME,
      message_ids: [],
      usage,
      cost,
      agents: [],
      ledgers: null,
      nested_ledgers: [],
      run: { id, turns, turn, usage, cost, models },
    };
  }

  #textOf(source: string): OpenText | undefined {
    return this.#texts.find((text) => text.source === source);
  }

  #newId(): string {
    return `m${++this.#ids}`;
  }

  #next(): string {
    return String(++this.#cursor);
  }
}

function shown({ id, named, source, content }: OpenText): TextFrame {
  return { full_message_id: named ? id : null, source, content };
}

const FAILURE = { type: "model_error", message: "The model cannot be reached." };

const FAILED = {
  type: "urn:troupe:problem:model_error",
  title: "Model error",
  status: 502,
  detail: FAILURE.message,
  code: FAILURE.type,
};
