import * as z from "zod";
import { type ChatAgent, isAgent } from "../agents/chat-agent.ts";
import { TaskError, TroupeError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { HandoffMessage } from "../messages/chat-messages.ts";
import { handedTo } from "../messages/handed-to.ts";
import { isChatMessage } from "../messages/views.ts";
import type { AgentEvent, ChatMessage, Message } from "../messages/message.ts";
import { parseState, stateSchemaOf } from "../state/load-state.ts";
import { pythonRepr } from "../text/python.ts";
import type { Decision, GroupChatManager, GroupChatView, Spoken } from "./group-chat-manager.ts";
import type { Team } from "./team.ts";

const stateSchema = stateSchemaOf("SwarmManagerState").extend({
  current_speaker: z.string().default(""),
  /** AutoGen searches the thread for it, which does not mark messages from inside an inner team. */
  troupe: z.object({ handoff: z.string().nullish() }).optional(),
});

type Head = { speaker: string; handoff: string | null };

/** Chooses the target of the last handoff; without one, the speaker stays (AutoGen `SwarmGroupChatManager`). */
export class SwarmGroupChatManager implements GroupChatManager {
  readonly name = "SwarmGroupChatManager";
  readonly #team: string;
  readonly #names: readonly string[];
  readonly #teams: ReadonlySet<string>;
  #speaker: string;
  /** The target of the last handoff in the thread; it may be outside the team. */
  #handoff: string | null = null;

  /** @param team the swarm's own name, under which an outer swarm hands over to it */
  constructor(team: string, participants: readonly (ChatAgent | Team)[]) {
    this.#team = team;
    this.#names = participants.map(({ name }) => name);
    this.#teams = new Set(
      participants.filter((member) => !isAgent(member)).map(({ name }) => name),
    );
    this.#speaker = this.#first;
  }

  /** As in AutoGen, only the first of several handoffs in a task is checked. */
  validateTask(
    messages: readonly ChatMessage[] | null,
    _view: GroupChatView,
    earlier: number,
  ): void {
    const { given, ledHere } = this.#handoffsOf(messages ?? [], earlier);
    const [first] = given;
    if (first === undefined && ledHere) return;
    const target = first?.target ?? this.#handoff;
    if (target === null || this.#names.includes(target)) return;
    const refusal = `is not one of the participants ${pythonRepr([...this.#names])}.`;
    const hint = "A HandoffMessage to one of them as the task resumes the team.";
    if (first === undefined) {
      throw new TaskError(`The existing handoff target ${target} ${refusal} ${hint}`);
    }
    const message = `The target ${target} ${refusal}`;
    throw new TaskError(`${message} ${hint}`, {
      issues: [{ path: `task[${messages?.indexOf(first)}].target`, message }],
    });
  }

  observe(spoken: readonly Spoken[]): void {
    for (const { name, messages, earlier = 0 } of spoken) {
      if (name === null) {
        const { given, ledHere } = this.#handoffsOf(messages, earlier);
        if (ledHere) this.#handoff = null;
        this.#handoff = given.at(-1)?.target ?? this.#handoff;
      } else {
        this.#handoff = this.#answers(name, messages).findLast(isHandoff)?.target ?? this.#handoff;
      }
    }
  }

  // oxlint-disable-next-line require-yield
  async *decide(): AsyncGenerator<AgentEvent, Decision, void> {
    const speaker = this.#handoff ?? this.#speaker;
    if (!this.#names.includes(speaker)) {
      throw new TroupeError(
        "unknown_speaker",
        `the handoff target "${speaker}" is not a participant of "${this.#team}"; the participants are: ${this.#names.join(", ")}. ` +
          "For a handoff to a name outside the team, add a HandoffTermination with that target",
      );
    }
    this.#speaker = speaker;
    return { kind: "speak", speakers: [speaker] };
  }

  /** A message answers a handoff to a name outside the team: the last speaker reads it. */
  goOn(): undefined {
    if (this.#handoff !== null && !this.#names.includes(this.#handoff)) this.#handoff = null;
  }

  nextSpeakers(): readonly string[] {
    return [this.#names.find((name) => name === this.#handoff) ?? this.#speaker];
  }

  reset(): void {
    this.#speaker = this.#first;
    this.#handoff = null;
  }

  saveState(): JsonObject {
    return {
      type: "SwarmManagerState",
      version: "1.0.0",
      current_speaker: this.#speaker,
      troupe: { handoff: this.#handoff },
    };
  }

  loadState(state: JsonObject, thread: readonly Message[]): void {
    const { current_speaker, troupe } = parseState(stateSchema, state, "a swarm's state");
    this.#speaker = current_speaker || this.#first;
    this.#handoff =
      troupe?.handoff === undefined ? (thread.findLast(isHandoff)?.target ?? null) : troupe.handoff;
  }

  head(): Json {
    return { speaker: this.#speaker, handoff: this.#handoff } satisfies Head;
  }

  loadHead(head: Json): void {
    ({ speaker: this.#speaker, handoff: this.#handoff } = head as Head);
  }

  fits(head: Json, gone: ReadonlySet<string | null>): boolean {
    const { speaker, handoff } = head as Head;
    return !gone.has(speaker) && !gone.has(handoff);
  }

  get #first(): string {
    return this.#names[0] ?? "";
  }

  /**
   * The handoffs in a task. A handoff to this team's own name has no target inside; those before it belong to the outer
   * team. So do earlier ones to names that are not in this team: the run that had such a handoff has failed for it.
   */
  #handoffsOf(
    task: readonly Message[],
    earlier: number,
  ): { given: HandoffMessage[]; ledHere: boolean } {
    const index = this.#names.includes(this.#team) ? -1 : handedTo(task, this.#team);
    const given = task
      .slice(index + 1)
      .filter(isHandoff)
      .filter(
        (handoff) => this.#names.includes(handoff.target) || task.indexOf(handoff) >= earlier,
      );
    return { given, ledHere: index >= 0 };
  }

  /** The messages that may hold a handoff: only the last one of an inner team, because its others are internal. */
  #answers(name: string, messages: readonly Message[]): readonly Message[] {
    return this.#teams.has(name) ? messages.filter(isChatMessage).slice(-1) : messages;
  }
}

function isHandoff(message: Message): message is HandoffMessage {
  return message.type === "HandoffMessage";
}
