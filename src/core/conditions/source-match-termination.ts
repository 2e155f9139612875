import * as z from "zod";
import type { AnyComponentDefinition } from "../component/component.ts";
import { refuseWhereNew } from "../component/refused-where-new.ts";
import type { Issue } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { conditionDefinition, noSourceMistakes } from "./condition-definition.ts";
import { MatchTermination } from "./match-termination.ts";
import { checkArgument, texts } from "../options/options.ts";

function findMistakes({ sources }: { sources: readonly string[] }): Issue[] {
  return noSourceMistakes(sources, "name the agents whose messages end the run");
}

/** Fires when one of `sources` has spoken (AutoGen `SourceMatchTermination`). */
export class SourceMatchTermination extends MatchTermination {
  static readonly component = conditionDefinition({
    name: "SourceMatchTermination",
    configSchema: z.object({ sources: z.array(z.string()) }),
    findMistakes,
    fromConfig: ({ sources }) => new SourceMatchTermination(sources),
  });
  readonly definition: AnyComponentDefinition = SourceMatchTermination.component;
  readonly #sources: readonly string[];

  constructor(sources: readonly string[]) {
    super();
    this.#sources = checkArgument(texts, sources, "SourceMatchTermination", "sources");
    refuseWhereNew("SourceMatchTermination", findMistakes({ sources }));
  }

  toConfig(): JsonObject {
    return { sources: [...this.#sources] };
  }

  protected reason(delta: readonly Message[]): string | undefined {
    const answer = delta.find((message) => this.#sources.includes(message.source));
    return answer && `'${answer.source}' answered`;
  }
}
