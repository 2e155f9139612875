import type { AnyComponentDefinition, Catalog, JsonObject } from "troupe";
import type { Trace } from "../trace.ts";
import { CodeStandIn } from "./code.ts";
import { Hooks } from "./hooks.ts";
import { ModelCallRecorder, numberClients } from "./model-calls.ts";
import { Switches } from "./switches.ts";
import { TableCatalog } from "./tools.ts";

/** The world outside of one trace, wherever its subject lives. */
export class StandIns {
  /** The functions that component JSON names. */
  readonly catalog: Catalog;
  readonly models = new ModelCallRecorder();
  readonly switches = new Switches();
  readonly code: CodeStandIn;
  readonly hooks: Hooks;

  constructor(trace: Trace) {
    this.catalog = new TableCatalog(trace.tools);
    this.code = new CodeStandIn(trace.code_results);
    this.hooks = new Hooks(this.catalog);
  }

  /** A component's definition, or that of its stand-in. */
  adapt = (definition: AnyComponentDefinition): AnyComponentDefinition =>
    this.code.adapt(this.models.adapt(this.switches.adapt(definition)));

  /** Component JSON as its stand-ins want it. To be called when it becomes the subject. */
  prepare(component: JsonObject, hooks: JsonObject): JsonObject {
    this.switches.forget();
    return numberClients(this.hooks.prepare(component, hooks));
  }
}
