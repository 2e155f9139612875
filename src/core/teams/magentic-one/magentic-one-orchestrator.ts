import { TaskError, TroupeError } from "../../errors.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { TextMessage } from "../../messages/chat-messages.ts";
import { createMessage } from "../../messages/create.ts";
import { isChatMessage, toModelMessage, toModelText, toText } from "../../messages/views.ts";
import type { AgentEvent, ChatMessage, Message } from "../../messages/message.ts";
import { assistantMessage, type TextResult } from "../../models/assistant-message.ts";
import { callModel, type ModelCallOptions } from "../../turn/call-model.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import type { LLMMessage } from "../../models/llm-messages.ts";
import { ModelError } from "../../models/model-error.ts";
import { modelClientPart } from "../../models/model-client-part.ts";
import { isSteering } from "../../turn/steering.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import type { Stateful } from "../../state/stateful.ts";
import { formatPython } from "../../text/format.ts";
import type { Decision, GroupChatManager, GroupChatView, Spoken } from "../group-chat-manager.ts";
import { rolesOf } from "../roles.ts";
import type { OrchestratorPrompts } from "./orchestrator-prompts.ts";
import { NEW_STATE, type OrchestratorState, readState, writeState } from "./orchestrator-state.ts";
import { type Assessment, ledgerOutput, readLedger } from "./progress-ledger.ts";
import { isFinalAnswerTemplate, type PromptValues } from "./prompts-config.ts";

/** The most requests to the model for one progress ledger. */
const LEDGER_ATTEMPTS = 10;

export interface OrchestratorOptions {
  modelClient: ChatCompletionClient;
  prompts: OrchestratorPrompts;
  /** Sent verbatim, unless {@link isFinalAnswerTemplate}. */
  finalAnswerPrompt: string;
  /** One progress ledger after this many, the team gives its final answer. Null: no limit. */
  maxRounds: number | null;
  maxStalls: number;
}

/**
 * Leads a team by two ledgers (AutoGen `MagenticOneOrchestrator`). The task ledger, facts and a plan, is written when
 * a task arrives and again when the work stalls; each time the participants are reset. The progress ledger is written
 * before every speaker. Writing the task ledger is a turn of its own, committed before participants act on it.
 */
export class MagenticOneOrchestrator implements GroupChatManager {
  readonly name = "MagenticOneOrchestrator";
  readonly orchestrates = true;
  readonly #options: OrchestratorOptions;
  #state = NEW_STATE;

  constructor(options: OrchestratorOptions) {
    this.#options = options;
  }

  children(): { readonly [key: string]: Stateful } {
    return { ...modelClientPart(this.#options.modelClient), task_ledger: this.#taskLedger() };
  }

  validateTask(messages: readonly ChatMessage[] | null): void {
    // Work in progress continues without a task: in a fork, after a stopped run.
    if (messages !== null || this.#state.next !== "task") return;
    throw new TaskError(
      "a MagenticOneGroupChat makes a plan for every run, so each run needs a task",
      { issues: [{ path: "task", message: "must not be null" }] },
    );
  }

  observe(spoken: readonly Spoken[]): void {
    for (const { name, messages } of spoken) {
      if (name !== null) continue;
      const task = messages.filter(isChatMessage).map(toModelText).join(" ");
      this.#state = {
        ...this.#state,
        task,
        facts: "",
        plan: "",
        stalls: 0,
        next: "plan",
        entry: null,
      };
    }
  }

  // oxlint-disable-next-line require-yield
  async *decide(view: GroupChatView, ctx: TurnContext): AsyncGenerator<AgentEvent, Decision, void> {
    const { taskLedgerFacts, taskLedgerPlan, taskLedgerFactsUpdate, taskLedgerPlanUpdate } =
      this.#options.prompts;
    switch (this.#state.next) {
      case "task":
      case "plan":
        return this.#plan(this.#sentLast(view), [taskLedgerFacts, taskLedgerPlan], view, ctx);
      case "replan": {
        const before = this.#conversation(view);
        return this.#plan(before, [taskLedgerFactsUpdate, taskLedgerPlanUpdate], view, ctx);
      }
      case "work":
        return this.#work(view, ctx);
    }
  }

  /** After the final answer, the next progress ledger is written with the message. */
  goOn(): undefined {
    if (this.#state.next === "task") this.#state = { ...this.#state, next: "work" };
  }

  reset(): void {
    this.#state = NEW_STATE;
  }

  saveState(): JsonObject {
    return writeState(this.#state);
  }

  loadState(state: JsonObject): void {
    this.#state = readState(state);
  }

  head(): Json {
    const { rounds, stalls, next, entry } = this.#state;
    return { rounds, stalls, next, entry };
  }

  loadHead(head: Json): void {
    this.#state = {
      ...this.#state,
      ...(head as Pick<OrchestratorState, "rounds" | "stalls" | "next" | "entry">),
    };
  }

  visibleState(): JsonObject {
    const { task, facts, plan, rounds, stalls, next, entry } = this.#state;
    return { task_ledger: { task, facts, plan }, progress_ledger: { rounds, stalls, next, entry } };
  }

  /** Stored separately from the head: it is long, and most turns do not change it. */
  #taskLedger(): Stateful {
    return {
      saveState: () => {
        const { task, facts, plan } = this.#state;
        return { task, facts, plan };
      },
      loadState: (saved) => {
        this.#state = { ...this.#state, ...saved };
      },
    };
  }

  /** Writes the task ledger, resets the participants and sends it to them. */
  async #plan(
    before: readonly LLMMessage[],
    [factsPrompt, planPrompt]: readonly [string, string],
    view: GroupChatView,
    ctx: TurnContext,
  ): Promise<Decision> {
    const conversation = [...before, this.#question(factsPrompt, view)];
    const facts = await this.#ask(ctx, "model:facts", conversation);
    this.#state = { ...this.#state, facts: facts.content };
    conversation.push(
      assistantMessage({ ...facts, thought: null }, this.name),
      this.#question(planPrompt, view),
    );
    const plan = await this.#ask(ctx, "model:plan", conversation);
    this.#state = { ...this.#state, plan: plan.content, next: "work" };
    const ledger = this.#filled(this.#options.prompts.taskLedgerFull, view);
    return { kind: "again", resetParticipants: true, say: [this.#message(ctx, ledger)] };
  }

  async #work(view: GroupChatView, ctx: TurnContext): Promise<Decision> {
    const { maxRounds, maxStalls } = this.#options;
    const { rounds, stalls } = this.#state;
    if (maxRounds !== null && rounds > maxRounds) {
      return { ...(await this.#finish("Max rounds reached.", view, ctx)), atLimit: true };
    }
    const assessment = await this.#assess(view, ctx);
    this.#state = { ...this.#state, rounds: rounds + 1 };
    if (assessment.satisfied) return this.#finish(assessment.reason, view, ctx);
    const nowStalls = assessment.stalling ? stalls + 1 : Math.max(0, stalls - 1);
    this.#state = { ...this.#state, stalls: nowStalls };
    if (nowStalls >= maxStalls) {
      this.#state = { ...this.#state, next: "replan" };
      return { kind: "again" };
    }
    const { speaker, instruction } = assessment;
    return { kind: "speak", speakers: [speaker], say: [this.#message(ctx, instruction)] };
  }

  /** @throws TroupeError `ledger_unusable` when no attempt gives a ledger that can be followed */
  async #assess(view: GroupChatView, ctx: TurnContext): Promise<Assessment> {
    const { modelClient, prompts } = this.#options;
    const conversation = [
      ...this.#conversation(view),
      this.#question(prompts.progressLedger, view),
    ];
    const names = view.participants.map(({ name }) => name);
    const output = ledgerOutput(modelClient.modelInfo);
    let fault = "";
    for (let attempt = 0; attempt < LEDGER_ATTEMPTS; attempt++) {
      const options = { jsonOutput: output, fresh: attempt > 0 };
      const reply = await this.#ask(ctx, `model:ledger:${attempt}`, conversation, options);
      const reading = readLedger(reply.content, names);
      if ("assessment" in reading) {
        this.#state = { ...this.#state, entry: reading.entry };
        return reading.assessment;
      }
      fault = reading.fault;
    }
    throw new TroupeError(
      "ledger_unusable",
      `the model gave no progress ledger that can be followed in ${LEDGER_ATTEMPTS} attempts; the last: ${fault}`,
    );
  }

  async #finish(
    reason: string,
    view: GroupChatView,
    ctx: TurnContext,
  ): Promise<Decision & { kind: "stop" }> {
    const { finalAnswerPrompt } = this.#options;
    const question = isFinalAnswerTemplate(finalAnswerPrompt)
      ? this.#question(finalAnswerPrompt, view)
      : this.#user(finalAnswerPrompt);
    const conversation = [...this.#conversation(view), question];
    const answer = await this.#ask(ctx, "model:final_answer", conversation);
    this.#state = { ...this.#state, next: "task" };
    return {
      kind: "stop",
      stop: { content: reason, source: this.name },
      say: [this.#message(ctx, answer.content)],
    };
  }

  /** @param key begins with `model`: a retried run repeats the steps with this prefix */
  async #ask(
    ctx: TurnContext,
    key: string,
    messages: LLMMessage[],
    options: ModelCallOptions = {},
  ): Promise<TextResult> {
    const { modelClient } = this.#options;
    const result = await callModel(ctx, key, modelClient, messages, {
      ...options,
      steerable: true,
    });
    const { content } = result;
    if (typeof content === "string") return { ...result, content };
    throw new ModelError("bad_response", "the orchestrator's model answered with tool calls", {
      retryable: false,
    });
  }

  /** The messages that people have sent since the last speaker: the first plan is asked with them, too. */
  #sentLast({ thread }: GroupChatView): LLMMessage[] {
    const messages = thread.slice();
    return this.#modelMessages(
      messages.slice(messages.findLastIndex((message) => !isSteering(message)) + 1),
    );
  }

  #conversation({ thread }: GroupChatView): LLMMessage[] {
    return this.#modelMessages(thread.slice());
  }

  #modelMessages(messages: readonly Message[]): LLMMessage[] {
    return messages
      .filter(isChatMessage)
      .map((message) =>
        message.source === this.name
          ? { content: toText(message), thought: null, source: this.name, type: "AssistantMessage" }
          : toModelMessage(message),
      );
  }

  #question(template: string, view: GroupChatView): LLMMessage {
    return this.#user(this.#filled(template, view));
  }

  #filled(template: string, { participants }: GroupChatView): string {
    const { task, facts, plan } = this.#state;
    const values: PromptValues = {
      task,
      facts,
      plan,
      team: rolesOf(participants),
      names: participants.map(({ name }) => name).join(", "),
    };
    return formatPython(template, values);
  }

  #user(content: string): LLMMessage {
    return { content, source: this.name, type: "UserMessage" };
  }

  #message(ctx: TurnContext, content: string): TextMessage {
    return createMessage<TextMessage>(ctx, { type: "TextMessage", source: this.name, content });
  }
}
