import type { Component, ComponentRole } from "../../src/core/component/component.ts";
import { coreComponents } from "../../src/core/component/core-components.ts";
import { ComponentRegistry } from "../../src/core/component/registry.ts";
import { ExternalTermination } from "../../src/core/conditions/external-termination.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import type { MessageOrigin } from "../../src/core/messages/create.ts";
import { MemoryHost } from "../../src/core/run/memory-host.ts";
import { TurnScope } from "../../src/core/run/turn-scope.ts";
import { IdMap } from "./compare/ids.ts";
import { Human } from "./stand-ins/human.ts";
import { ModelCallRecorder, numberClients } from "./stand-ins/model-calls.ts";
import { toolCatalog } from "./stand-ins/tools.ts";
import type { Trace } from "./trace.ts";

/** What a trace plays in: its subject, and the scripted world outside. */
export class World {
  readonly ids = new IdMap();
  readonly models = new ModelCallRecorder();
  readonly human: Human;
  readonly #trace: Trace;
  readonly #registry: ComponentRegistry;
  #subject: { component: Component; model: JsonObject } | undefined;
  #switches: ExternalTermination[] = [];
  #scopes = 0;

  constructor(trace: Trace) {
    this.#trace = trace;
    this.human = new Human(trace.inputs);
    this.#registry = new ComponentRegistry().register(
      ...coreComponents(toolCatalog(trace.tools)).map((definition) => {
        if (definition.provider.endsWith(".ReplayChatCompletionClient")) {
          return this.models.recording(definition);
        }
        if (definition.provider !== ExternalTermination.component.provider) return definition;
        return {
          ...definition,
          fromConfig: () => {
            const condition = new ExternalTermination();
            this.#switches.push(condition);
            return condition;
          },
        };
      }),
    );
    if (trace.component !== undefined) this.use(trace.component);
  }

  load<T extends Component>(model: Json | undefined, role?: ComponentRole): T {
    return this.#registry.load<T>(model, role);
  }

  /** Makes another component the subject. */
  use(model: Json | undefined): void {
    if (!isJsonObject(model)) throw new Error("the trace names no component");
    this.#subject = undefined;
    this.#switches = [];
    this.#subject = { component: this.load(numberClients(model)), model };
  }

  /** Drops the subject and loads a fresh one. */
  renew(model: Json | undefined): void {
    this.use(model ?? this.#trace.component ?? this.#subject?.model);
  }

  /** @throws Error when the subject plays none of these roles */
  subject<T extends Component>(...roles: readonly ComponentRole[]): T {
    if (this.#subject === undefined) throw new Error("the trace has no subject here");
    const { component } = this.#subject;
    const { provider, role } = component.definition;
    if (roles.length > 0 && !roles.includes(role)) {
      throw new Error(`${provider} is no ${roles.join(" or ")}`);
    }
    return component as T;
  }

  /** Component JSON of the subject. */
  get subjectModel(): JsonObject | undefined {
    return this.#subject?.model;
  }

  pressSwitches(): void {
    for (const condition of this.#switches) condition.set();
  }

  /** A turn of its own for what is done outside a run. */
  scope(): TurnScope {
    return TurnScope.root(new MemoryHost({ answer: this.human.answer }).turn(this.#scopes++));
  }

  readonly origin: MessageOrigin = {
    id: () => crypto.randomUUID(),
    now: () => new Date().toISOString(),
  };
}
