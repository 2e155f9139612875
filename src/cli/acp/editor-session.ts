import type {
  AgentContext,
  ContentBlock,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";
import {
  ApiError,
  type HumanRequest,
  RunError,
  type RunStream,
  type StreamItem,
  type TaskOnBoard,
  type TeamClient,
} from "../../client/index.ts";
import { askUser, isAskedAtOnce, type QuestionAbilities } from "./human-questions.ts";
import { taskOf } from "./prompt-content.ts";
import { SessionUpdates } from "./session-updates.ts";

/** Messages of one request while a session is loaded. */
const PAGE = 200;

/** The states of tasks on a board that a plan shows, with their names in ACP. */
const TASK_STATUS = { open: "pending", claimed: "in_progress", done: "completed" } as const;

/** A conversation of an editor with a team of its own. */
export class EditorSession {
  readonly #team: TeamClient;
  readonly #client: AgentContext;
  readonly #abilities: QuestionAbilities;
  readonly #updates = new SessionUpdates();
  /** Questions that the user has or has had, with what closes them in the editor. */
  readonly #asked = new Map<string, AbortController>();
  /** Ends what follows the run. */
  #following: AbortController | undefined;
  #cancelled = false;
  /** False once the team is found to have no board of tasks. */
  #hasBoard = true;

  constructor(team: TeamClient, client: AgentContext, abilities: QuestionAbilities) {
    this.#team = team;
    this.#client = client;
    this.#abilities = abilities;
  }

  /** Sends what was said before, and then follows the active run, if there is one. */
  async load(): Promise<void> {
    for (let after = 0; ;) {
      const { messages } = await this.#team.messages({ after, limit: PAGE });
      for (const message of messages) await this.#send(this.#updates.message(message, true));
      const last = messages.at(-1);
      if (last === undefined || messages.length < PAGE) break;
      after = last.seq;
    }
    await this.#showTasks();
    const { active_run } = await this.#team.get();
    if (active_run === null) return;
    // The editor has its answer before the rest of the run. A failure is shown by the next prompt.
    void this.#follow((signal) => this.#team.watch(active_run, { signal })).catch(() => undefined);
  }

  /**
   * Sends a message of the user to the team: the answer to an open question, a message into the active run, or the task of a new
   * run. Follows the run to its end, or until it waits for an answer that the next prompt gives.
   *
   * @throws ApiError | RunError
   */
  async prompt(prompt: readonly ContentBlock[]): Promise<StopReason> {
    this.#following?.abort();
    this.#cancelled = false;
    const task = taskOf(prompt);
    const { active_run } = await this.#team.get();
    const question = active_run === null ? undefined : await this.#openQuestion(active_run);
    if (active_run !== null && question !== undefined) {
      await this.#team.answer(active_run, question.id, { content: task });
      this.#asked.set(question.id, new AbortController());
      return this.#follow((signal) => this.#team.watch(active_run, { signal }));
    }
    return this.#follow((signal) => this.#team.run(task, { signal, on_conflict: "steer" }));
  }

  /** Ends the run, and thereby the prompt. */
  async cancel(): Promise<void> {
    this.#cancelled = true;
    const { active_run } = await this.#team.get();
    if (active_run === null) return;
    try {
      await this.#team.stop(active_run, "now");
    } catch (error) {
      // It ended meanwhile.
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
    }
  }

  async #openQuestion(run: string): Promise<HumanRequest | undefined> {
    const requests = await this.#team.requests(run);
    return requests.find((request) => this.#isLeftToPrompt(request));
  }

  async #follow(start: (signal: AbortSignal) => RunStream): Promise<StopReason> {
    const following = new AbortController();
    this.#following = following;
    const { signal } = following;
    try {
      for await (const item of start(signal)) {
        await this.#send(this.#updates.item(item));
        if (await this.#waitsForPrompt(item, signal)) return "end_turn";
      }
      return this.#cancelled ? "cancelled" : "end_turn";
    } catch (error) {
      if (signal.aborted) return "cancelled";
      if (error instanceof RunError && error.run.status === "cancelled") return "cancelled";
      throw error;
    } finally {
      following.abort();
    }
  }

  /** Asks the run's questions. @returns true if the run continues only with the next prompt */
  async #waitsForPrompt(item: StreamItem, signal: AbortSignal): Promise<boolean> {
    if (item.kind === "turn") await this.#showTasks();
    if (item.kind !== "run") return false;
    const { id, requests, status } = item.run;
    // Another person answered them, or they have expired.
    for (const [asked, closed] of this.#asked) {
      if (!requests.some((request) => request.id === asked)) closed.abort();
    }
    for (const request of requests.filter((one) => !this.#asked.has(one.id))) {
      const closed = new AbortController();
      this.#asked.set(request.id, closed);
      if (this.#isAskedAtOnce(request)) {
        void this.#ask(id, request, AbortSignal.any([signal, closed.signal]));
      } else await this.#send([questionText(request)]);
    }
    return status === "waiting" && requests.every((request) => this.#isLeftToPrompt(request));
  }

  #isAskedAtOnce(request: HumanRequest): boolean {
    return isAskedAtOnce(request, this.#abilities);
  }

  /** The answer to a login comes from the page of the login. */
  #isLeftToPrompt(request: HumanRequest): boolean {
    return !this.#isAskedAtOnce(request) && request.login === undefined;
  }

  async #ask(run: string, request: HumanRequest, signal: AbortSignal): Promise<void> {
    try {
      const answer = await askUser(this.#client, this.#team.id, request, signal);
      if (answer !== undefined) await this.#team.answer(run, request.id, answer);
    } catch (error) {
      if (signal.aborted) return;
      // Another person answered first, or it expired.
      if (error instanceof ApiError && error.status === 409) return;
      process.stderr.write(`The question ${request.id} was not answered: ${String(error)}\n`);
    }
  }

  /** The tasks of the team's board as the plan. */
  async #showTasks(): Promise<void> {
    if (!this.#hasBoard) return;
    try {
      const { tasks } = await this.#team.tasks.list();
      if (tasks.length > 0) await this.#send([planOf(tasks)]);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#hasBoard = false;
    }
  }

  async #send(updates: readonly SessionUpdate[]): Promise<void> {
    for (const update of updates) {
      await this.#client.notify("session/update", { sessionId: this.#team.id, update });
    }
  }
}

function questionText({ id, prompt, source, login, url }: HumanRequest): SessionUpdate {
  const text = login === undefined || url === undefined ? prompt : `${prompt}\n\n${url}`;
  return {
    sessionUpdate: "agent_message_chunk",
    messageId: id,
    content: { type: "text", text },
    _meta: { troupe: { agent: source } },
  };
}

function planOf(tasks: readonly TaskOnBoard[]): SessionUpdate {
  const entries = tasks.flatMap(({ title, state }) =>
    state === "dropped"
      ? []
      : [{ content: title, priority: "medium" as const, status: TASK_STATUS[state] }],
  );
  return { sessionUpdate: "plan", entries };
}
