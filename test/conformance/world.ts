import type { Component, ComponentRole, Json, JsonObject, MessageOrigin } from "troupe";
import { ComponentRegistry, coreComponents, sandboxComponents } from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { Human } from "./stand-ins/human.ts";
import type { StandIns } from "./stand-ins/stand-ins.ts";
import type { Trace } from "./trace.ts";

/** A trace's subject and the world around it, in memory. */
export class World {
  readonly human: Human;
  readonly standIns: StandIns;
  readonly #registry: ComponentRegistry;
  #subject: Component | undefined;
  #model: JsonObject = {};
  #scopes = 0;

  constructor(trace: Trace, standIns: StandIns) {
    this.human = new Human(trace.inputs);
    this.standIns = standIns;
    const { catalog, adapt } = standIns;
    this.#registry = new ComponentRegistry({ functions: catalog }).register(
      ...[...coreComponents(catalog), ...sandboxComponents(undefined)].map(adapt),
      ...catalog.components(),
    );
  }

  /** Makes another component the subject. */
  use(component: JsonObject, hooks: JsonObject): void {
    this.#subject = undefined;
    this.#model = this.standIns.prepare(component, hooks);
    this.#subject = this.load(this.#model);
  }

  /** Component JSON of the subject, as its stand-ins want it; also when it could not be loaded. */
  get model(): JsonObject {
    return this.#model;
  }

  /** What the subject is used as. */
  get role(): ComponentRole | undefined {
    return this.#subject?.definition.role;
  }

  load<T extends Component>(model: Json | undefined, role?: ComponentRole): T {
    return this.#registry.load<T>(model, role);
  }

  /** @throws Error when the subject plays none of these roles */
  subject<T extends Component>(...roles: readonly ComponentRole[]): T {
    if (this.#subject === undefined) throw new Error("the trace has no subject here");
    const { provider, role } = this.#subject.definition;
    if (roles.length > 0 && !roles.includes(role)) {
      throw new Error(`${provider} is no ${roles.join(" or ")}`);
    }
    return this.#subject as T;
  }

  /** A turn of its own for what is done outside a run. */
  scope(): TurnScope {
    return TurnScope.root(new InMemoryHost({ answer: this.human.answer }).turn(this.#scopes++));
  }

  readonly origin: MessageOrigin = {
    id: () => crypto.randomUUID(),
    now: () => new Date().toISOString(),
  };
}
