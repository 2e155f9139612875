import { Catalog } from "troupe";
import { withoutNulls } from "#core/component/component.ts";
import type { JsonObject, Tool } from "troupe";
import { FUNCTION_TOOL } from "#core/tools/function/function-tool.ts";
import { sameJson, type ToolTable } from "../trace.ts";

/** The functions that component JSON names: they answer from the tables of the trace. */
export class TableCatalog extends Catalog {
  readonly #tables: { readonly [name: string]: ToolTable };

  constructor(tables: { readonly [name: string]: ToolTable }) {
    super();
    this.#tables = tables;
  }

  override tool(name: string): Tool {
    return tableTool(name, this.#tables[name] ?? EMPTY);
  }
}

/** Traces about loading only name tools that they never call. */
const EMPTY: ToolTable = {
  description: "",
  parameters: { type: "object" },
  strict: false,
  cases: [],
};

function tableTool(name: string, table: ToolTable): Tool {
  const { description, parameters, strict, cases } = table;
  return {
    definition: FUNCTION_TOOL,
    name,
    description,
    schema: { name, description, parameters, strict },
    policy: "never",
    run: async (args) => answer(name, args, cases),
    // The recorded text is final.
    valueAsText: String,
    toConfig: () => withoutNulls({ name, description }),
  };
}

function answer(name: string, args: JsonObject, cases: ToolTable["cases"]): string {
  const found = cases.find((entry) => sameJson(entry.arguments, args));
  if (found === undefined) {
    throw new Error(`the trace has no case of ${name} for ${JSON.stringify(args)}`);
  }
  if (found.error !== undefined) throw new Error(found.error);
  return found.result ?? "";
}
