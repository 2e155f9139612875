import type { AnyComponentDefinition } from "troupe";
import { ExternalTermination } from "troupe";

/** Every ExternalTermination of the subject: the trace presses them all from outside. */
export class Switches {
  #built: ExternalTermination[] = [];
  /** Pressed, and no condition has seen it yet. */
  #pressed = false;

  adapt(definition: AnyComponentDefinition): AnyComponentDefinition {
    if (definition.provider !== ExternalTermination.component.provider) return definition;
    return { ...definition, fromConfig: () => this.#build() };
  }

  press(): void {
    this.#pressed = true;
    for (const condition of this.#built) condition.set();
  }

  /** Another component is to become the subject. */
  forget(): void {
    this.#built = [];
    this.#pressed = false;
  }

  /** A team that is stored may be built again between the press and the run that is to see it. */
  #build(): ExternalTermination {
    const condition = new Switch(() => {
      this.#pressed = false;
    });
    if (this.#pressed) condition.set();
    this.#built.push(condition);
    return condition;
  }
}

class Switch extends ExternalTermination {
  readonly #seen: () => void;

  constructor(seen: () => void) {
    super();
    this.#seen = seen;
  }

  override reset(): { terminated: boolean } {
    this.#seen();
    return super.reset();
  }

  protected override reason(): string | undefined {
    const reason = super.reason();
    if (reason !== undefined) this.#seen();
    return reason;
  }
}
