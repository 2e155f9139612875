import type { CallToolResult } from "@modelcontextprotocol/server";
import type * as z from "zod";
import type { OpenedStream } from "../../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import { invalid, unwrap } from "../../../http/endpoint/problem.ts";
import { eventsOf } from "../session/follow-run.ts";
import type { READ_RUN } from "../session/access.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import type { ToolInputs } from "../run/tool-inputs.ts";
import { mayAnswer } from "../run/wait-for-run.ts";
import { findRun } from "./find-run.ts";

/** Characters of frames in one answer; the next one has the others. */
const MOST_CHARACTERS = 500_000;
/** A longer message is left out. */
const LONGEST_MESSAGE = 2_000_000;
/** So that pieces that follow each other come in one answer. */
const GATHER_MS = 200;

/** A frame of a run's events, as `GET /v1/teams/{team}/runs/{run}/events` has them. */
interface Frame {
  event?: string;
  data: object;
}

/** The structured content of the tool for the page of a run. */
interface RunPart {
  team_id: string;
  run_id: string;
  frames: Frame[];
  /** The cursor after these frames. */
  cursor: number;
  /** Names the state that the frames show, with the task. */
  seen: string;
  /** True if there are frames after these, or may be some. */
  more: boolean;
  may_answer: boolean;
  may_stop: boolean;
}

type Asked = z.output<ToolInputs[typeof READ_RUN]>;

/**
 * Reads the frames of a run after a cursor, and its present state, for the page of a run. Waits for something that the page has
 * not seen. Without the id of a run, the answer names that of the call, or none.
 *
 * @param left aborted when the client has left
 * @throws ProblemError
 */
export async function readRun(
  request: McpRequest,
  { team_id, run_id, call, ...asked }: Asked,
  left: AbortSignal,
): Promise<CallToolResult> {
  if (run_id === undefined && call !== undefined) {
    const found = await findRun(request, { ...call, team_id });
    const place = { team_id: found?.team_id ?? null, run_id: found?.id ?? null };
    return { content: [], structuredContent: place };
  }
  const path = team_id === undefined ? "team_id" : "run_id";
  if (team_id === undefined || run_id === undefined) {
    throw invalid("invalid_arguments", "The arguments are invalid.", [
      { path, message: "is missing: give team_id and run_id, or call" },
    ]);
  }
  const part = await readPart(request, { team: team_id, run: run_id, ...asked }, left);
  return { content: [], structuredContent: { ...part } };
}

async function readPart(
  request: McpRequest,
  { team: id, run, after, seen, wait_seconds }: PlaceOfRun,
  left: AbortSignal,
): Promise<RunPart> {
  const team = teamOf(request, id);
  const opened: OpenedStream = unwrap(await team.stream({ run, after }));
  const gathered = new GatheredFrames(after);
  const isAll = "done" in opened;
  if (isAll) gathered.add("run", JSON.stringify(unwrap(await team.run(run))));
  else await gather(opened, gathered, { request, left, seen, wait_seconds });
  const { scopes } = request.principal;
  return {
    team_id: id,
    run_id: run,
    frames: await gathered.without(seen),
    cursor: gathered.cursor,
    seen: await gathered.state(),
    more: !isAll && (request.budget.signal.aborted || gathered.hasMore),
    may_answer: mayAnswer(request),
    may_stop: scopes.includes("runs:write"),
  };
}

type PlaceOfRun = { team: string; run: string } & Pick<Asked, "after" | "seen" | "wait_seconds">;

interface Gathering extends Pick<Asked, "seen" | "wait_seconds"> {
  request: McpRequest;
  left: AbortSignal;
}

/** Reads a stream up to the present, and then until something has changed or the time is over. */
async function gather(
  { body }: Extract<OpenedStream, { body: unknown }>,
  gathered: GatheredFrames,
  { request: { budget, services }, left, seen, wait_seconds }: Gathering,
): Promise<void> {
  const seconds = Math.min(wait_seconds, services.limits.max_wait_seconds);
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, left]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last: ReturnType<typeof setTimeout> | undefined;
  const decide = async (): Promise<void> => {
    timer = undefined;
    if (gathered.hasNews || (await gathered.state()) !== seen) enough.abort();
  };
  try {
    for await (const { id, event, data } of eventsOf(body, { signal, budget })) {
      gathered.add(event, data, id);
      if (gathered.isFull) return;
      if (!gathered.isPresent) continue;
      last ??= setTimeout(() => enough.abort(), Math.max(GATHER_MS, seconds * 1000));
      timer ??= setTimeout(() => void decide(), GATHER_MS);
    }
  } finally {
    clearTimeout(timer);
    clearTimeout(last);
  }
}

/** The frames of a run as a page shows them. */
class GatheredFrames {
  readonly #frames: Frame[] = [];
  cursor: number;
  /** True once everything recorded was read of a run that has not ended. A stream that breaks off does not get so far. */
  isPresent = false;
  /** True if something was recorded that the page does not have. */
  hasNews = false;
  #characters = 0;
  /** The frames about the present: the last one of those that replace each other. */
  #run: Partial<RunInfo> = {};
  #activity: object = {};
  readonly #texts: object[] = [];

  constructor(after: number) {
    this.cursor = after;
  }

  get isFull(): boolean {
    return this.#characters > MOST_CHARACTERS;
  }

  /** True if there may be other frames already. Those of a run that has ended are all read once its stream has nothing else. */
  get hasMore(): boolean {
    return this.isFull || !this.isPresent || (this.#run.ended_at ?? null) !== null;
  }

  /** @param json the data of the frame @param id its cursor, if it is recorded */
  add(event: string | undefined, json: string, id?: string): void {
    const parsed = JSON.parse(json) as object;
    if (event === "caught_up") this.isPresent = true;
    if (event === "run") this.#run = parsed;
    else if (event === "activity") this.#activity = { ...parsed, at: null };
    else if (id === undefined) this.#texts.push(parsed);
    if (id !== undefined) {
      this.cursor = Number(id);
      this.hasNews = true;
      this.#characters += json.length;
    }
    const data = event === "run" ? shownRun(parsed as RunInfo) : shown(parsed, json.length);
    this.#frames.push({ ...(event !== undefined && { event }), data });
  }

  /**
   * Names what the page shows besides what was recorded: the run, the texts in progress and the steps under way. The second part
   * names the task.
   */
  async state(): Promise<string> {
    const state = JSON.stringify([this.#run, this.#activity, this.#texts]);
    return `${await nameOf(state)}.${await nameOf(taskIn(this.#run))}`;
  }

  /** The frames, with a task of null where the page has it. @param seen the state that the page shows */
  async without(seen: string | undefined): Promise<Frame[]> {
    let known = seen?.split(".")[1];
    const frames: Frame[] = [];
    for (const frame of this.#frames) {
      const name = frame.event === "run" ? await nameOf(taskIn(frame.data)) : undefined;
      const isKnown = name !== undefined && name === known;
      frames.push(isKnown ? { ...frame, data: { ...frame.data, task: null } } : frame);
      known = name ?? known;
    }
    return frames;
  }
}

function taskIn(run: Partial<RunInfo>): string {
  return JSON.stringify(run.task ?? null);
}

async function nameOf(text: string): Promise<string> {
  return (await sha256Hex(text)).slice(0, 32);
}

/** A run without what the page has from its messages. */
function shownRun({ requests, ...run }: RunInfo): object {
  const context = { messages: [], truncated: true };
  const shownRequests = requests.map((question) => ({ ...question, context }));
  return { ...run, result: null, requests: shownRequests };
}

/** The data of a frame; of a message that is too large, what it is. */
function shown(data: object, length: number): object {
  if (length <= LONGEST_MESSAGE || !("content" in data)) return data;
  const megabytes = Math.ceil(length / 1_000_000);
  const content = `A message of ${megabytes} MB, which is too large for this page.`;
  return { ...data, type: "TextMessage", content };
}
