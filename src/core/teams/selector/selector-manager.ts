import * as z from "zod";
import { remember } from "../../context/base-chat-completion-context.ts";
import { TroupeError } from "../../errors.ts";
import { jsonObjectSchema } from "../../json-object.ts";
import type { Json, JsonObject } from "../../json.ts";
import { isChatMessage } from "../../messages/views.ts";
import type { AgentEvent, ChatMessage, Message } from "../../messages/message.ts";
import { modelClientPart } from "../../models/model-client-part.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import { parseState, stateSchemaOf } from "../../state/load-state.ts";
import { type Stateful, within } from "../../state/stateful.ts";
import type {
  Decision,
  GroupChatManager,
  GroupChatView,
  ParticipantInfo,
  Spoken,
} from "../group-chat-manager.ts";
import { askModel } from "./ask-model.ts";
import type { SelectorSettings } from "./settings.ts";

const stateSchema = stateSchemaOf("SelectorManagerState").extend({
  previous_speaker: z.string().nullable().default(null),
  troupe: z.object({ model_context: jsonObjectSchema.optional() }).optional(),
});

/** Lets a model, or functions of the program, choose the next speaker (AutoGen `SelectorGroupChatManager`). */
export class SelectorGroupChatManager implements GroupChatManager {
  readonly name = "SelectorGroupChatManager";
  readonly #settings: SelectorSettings;
  /** The model context as it was configured, with its initial messages. */
  readonly #emptyContext: JsonObject;
  #previousSpeaker: string | null = null;

  constructor(settings: SelectorSettings) {
    this.#settings = settings;
    this.#emptyContext = settings.modelContext.saveState();
  }

  children(): { readonly [key: string]: Stateful } {
    const { modelContext, modelClient } = this.#settings;
    return { model_context: modelContext, ...modelClientPart(modelClient) };
  }

  observe(spoken: readonly Spoken[]): void {
    const messages = spoken.flatMap((item) => item.messages).filter(isChatMessage);
    remember(this.#settings.modelContext, messages);
  }

  heard(messages: readonly ChatMessage[]): void {
    remember(this.#settings.modelContext, messages);
  }

  async *decide(view: GroupChatView, ctx: TurnContext): AsyncGenerator<AgentEvent, Decision, void> {
    const named = await this.#named(view, ctx);
    if (named !== undefined) {
      this.#previousSpeaker = named;
      return { kind: "speak", speakers: [named] };
    }
    const [first, ...others] = await this.#candidates(view, ctx);
    this.#previousSpeaker =
      others.length === 0
        ? first
        : yield* askModel(
            this.#settings,
            {
              manager: this.name,
              participants: view.participants,
              candidates: [first, ...others],
              previousSpeaker: this.#previousSpeaker,
            },
            ctx,
          );
    return { kind: "speak", speakers: [this.#previousSpeaker] };
  }

  reset(): void {
    this.#settings.modelContext.clear();
    this.#previousSpeaker = null;
  }

  saveState(): JsonObject {
    const { modelContext, keepsContext } = this.#settings;
    return {
      type: "SelectorManagerState",
      version: "1.0.0",
      previous_speaker: this.#previousSpeaker,
      ...(keepsContext && { troupe: { model_context: modelContext.saveState() } }),
    };
  }

  /** Without a saved model context (AutoGen's states have none), it is rebuilt from the thread. */
  loadState(state: JsonObject, thread: readonly Message[]): void {
    const { troupe, previous_speaker } = parseState(stateSchema, state, "a selector's state");
    const { modelContext } = this.#settings;
    const saved = troupe?.model_context;
    if (saved === undefined) {
      modelContext.loadState(this.#emptyContext);
      remember(modelContext, thread.filter(isChatMessage));
    } else {
      within("troupe.model_context", () => modelContext.loadState(saved));
    }
    this.#previousSpeaker = previous_speaker;
  }

  head(): Json {
    return { previous_speaker: this.#previousSpeaker };
  }

  loadHead(head: Json): void {
    this.#previousSpeaker = (head as { previous_speaker: string | null }).previous_speaker;
  }

  fits(head: Json, gone: ReadonlySet<string | null>): boolean {
    return !gone.has((head as { previous_speaker: string | null }).previous_speaker);
  }

  async #named(
    { participants, thread }: GroupChatView,
    ctx: TurnContext,
  ): Promise<string | undefined> {
    const { selectorFunc } = this.#settings;
    const named = await selectorFunc?.(thread.slice(), ctx.scope("selector_func"));
    if (named == null) return undefined;
    requireParticipants("selector_func", [named], participants);
    return named;
  }

  /** The candidates. The previous speaker is one only if the settings allow it or a function names it. */
  async #candidates(
    { participants, thread }: GroupChatView,
    ctx: TurnContext,
  ): Promise<Candidates> {
    const { candidateFunc, allowRepeatedSpeaker } = this.#settings;
    if (candidateFunc === null) {
      const names = participants.map(({ name }) => name);
      const others = names.filter((name) => name !== this.#previousSpeaker);
      return atLeastOne(allowRepeatedSpeaker ? names : others);
    }
    const candidates = await candidateFunc(thread.slice(), ctx.scope("candidate_func"));
    requireParticipants("candidate_func", candidates, participants);
    return atLeastOne(candidates);
  }
}

type Candidates = readonly [string, ...string[]];

function atLeastOne(names: readonly string[]): Candidates {
  const [first, ...others] = names;
  if (first !== undefined) return [first, ...others];
  throw new TroupeError("no_candidates", "candidate_func must name at least one participant");
}

function requireParticipants(
  func: string,
  names: readonly string[],
  participants: readonly ParticipantInfo[],
): void {
  const knownNames = participants.map(({ name }) => name);
  const unknown = names.find((name) => !knownNames.includes(name));
  if (unknown !== undefined) {
    throw new TroupeError(
      "unknown_speaker",
      `${func} returned "${unknown}", which is not a participant; the participants are: ${knownNames.join(", ")}`,
    );
  }
}
