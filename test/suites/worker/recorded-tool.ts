import * as z from "zod";
import { type Json, type JsonObject, registerComponent, type Tool } from "troupe";
import app, { MemoryObject, TeamObject, TenantObject } from "troupe/worker";

interface RecordedToolConfig {
  name: string;
  result: Json;
}

/** A tool that returns what a recording says, whatever its arguments are. */
class RecordedTool implements Tool {
  static readonly component = {
    provider: "test.RecordedTool",
    componentType: "tool",
    role: "tool",
    version: 1,
    configSchema: z.object({ name: z.string(), result: z.json() }),
    fromConfig: (config: RecordedToolConfig) => new RecordedTool(config),
  } as const;

  readonly definition = RecordedTool.component;
  readonly description = "Returns a recorded result.";
  readonly policy = "retry";
  readonly name: string;
  readonly schema: Tool["schema"];
  readonly #result: Json;

  constructor({ name, result }: RecordedToolConfig) {
    this.name = name;
    this.#result = result;
    const parameters: JsonObject = { type: "object", properties: {}, additionalProperties: true };
    this.schema = { name, description: this.description, parameters, strict: false };
  }

  run(): Promise<Json> {
    return Promise.resolve(this.#result);
  }

  valueAsText(value: Json): string {
    return typeof value === "string" ? value : JSON.stringify(value);
  }

  toConfig(): JsonObject {
    return { name: this.name, result: this.#result };
  }
}

registerComponent(RecordedTool.component);

export { MemoryObject, TeamObject, TenantObject };
export default app;
