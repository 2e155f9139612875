import * as z from "zod";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
} from "../../../core/component/component.ts";
import { withoutInnerNulls } from "../../../core/component/component.ts";
import type { JsonObject } from "../../../core/json.ts";
import { aList, checkArgument } from "../../../core/options/options.ts";

/** A directory that a server may work in. Other keys of the protocol are kept. */
export interface Root {
  uri: string;
  name?: string | null | undefined;
  [key: string]: unknown;
}

const rootSchema: z.ZodType<Root> = z.looseObject({
  uri: z.string(),
  name: z.string().nullish(),
});

const rootsConfigSchema = z.object({ roots: z.array(rootSchema) });

/** Provides the directories in which a server may work (AutoGen `RootsProvider`). */
export interface RootsProvider extends Component {
  listRoots(): readonly Root[];
}

/** A fixed list of directories (AutoGen `StaticRootsProvider`). */
export class StaticRootsProvider implements RootsProvider {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.tools.mcp.StaticRootsProvider",
    componentType: "mcp_roots_provider",
    role: "mcp_roots_provider",
    version: 1,
    configSchema: rootsConfigSchema,
    fromConfig: ({ roots }) => new StaticRootsProvider(roots),
  });

  readonly definition = StaticRootsProvider.component;
  readonly #roots: readonly Root[];

  constructor(roots: readonly Root[]) {
    this.#roots = checkArgument(aList, roots, "StaticRootsProvider", "roots");
  }

  listRoots(): readonly Root[] {
    return this.#roots;
  }

  toConfig(): JsonObject {
    return withoutInnerNulls({ roots: this.#roots });
  }
}
