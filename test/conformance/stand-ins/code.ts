import * as z from "zod";
import type {
  AnyComponentDefinition,
  CodeBlock,
  CodeExecutor,
  CodeResult,
  ComponentDefinition,
  JsonObject,
} from "troupe";

/** Runs no code: gives the recorded results in order and remembers what it was to run. */
export class CodeStandIn {
  #calls: CodeBlock[][] = [];
  readonly #results: CodeResult[];

  constructor(results: readonly CodeResult[]) {
    this.#results = [...results];
  }

  readonly definition: ComponentDefinition<JsonObject, CodeExecutor> = {
    provider: "autogen_ext.code_executors.local.LocalCommandLineCodeExecutor",
    componentType: "code_executor",
    role: "code_executor",
    version: 1,
    configSchema: z.record(z.string(), z.json()),
    fromConfig: (config) => ({
      definition: this.definition,
      toConfig: () => config,
      // oxlint-disable-next-line require-yield -- the recordings know no output before the end
      executeCodeBlocks: async function* (this: CodeStandIn, blocks: readonly CodeBlock[]) {
        return this.#run(blocks);
      }.bind(this),
      close: () => Promise.resolve(),
    }),
  };

  /** The stand-in in the place of the executor whose name it bears. */
  adapt(definition: AnyComponentDefinition): AnyComponentDefinition {
    return definition.provider === this.definition.provider ? this.definition : definition;
  }

  /** What was to run since this was called last. */
  take(): CodeBlock[][] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  #run(blocks: readonly CodeBlock[]): CodeResult {
    this.#calls.push([...blocks]);
    const result = this.#results.shift();
    if (result === undefined) throw new Error("the trace has no further result of code");
    return result;
  }
}
