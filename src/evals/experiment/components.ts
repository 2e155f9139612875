import type { ChatAgent } from "../../core/agents/chat-agent.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import type { Component, ComponentRole } from "../../core/component/component.ts";
import type { Issue } from "../../core/errors.ts";
import { LazyComponents } from "../../core/registry/lazy-components.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import { defaultCatalog } from "../../core/tools/catalog.ts";
import { componentGroups } from "../../components/component-groups.ts";
import type { SandboxAddress } from "../../components/sandbox/client/sandbox-connection.ts";
import { sandboxPython } from "../../components/sandbox/components.ts";
import { readEnv } from "../../outgoing/dependencies.ts";
import { shippedTemplates } from "../../service/templates/templates.ts";
import { shippedTools } from "../../service/templates/tools/shipped-tools.ts";
import { scorerComponents } from "../scorers/scorer-components.ts";

/** The agents and teams that can be evaluated. */
export type Subject = Runnable | ChatAgent;

/**
 * Everything that the component JSON of an evaluation can name: components of Troupe, what the program has registered, templates,
 * scorers.
 */
export class EvaluationComponents {
  readonly #registry: LazyComponents;
  readonly #templates: ReadonlyMap<string, ComponentModel>;

  /** @param sandbox default: `SANDBOX_URL` and `SANDBOX_KEY` of the process */
  constructor(sandbox = sandboxOfProcess()) {
    this.#registry = new LazyComponents(
      componentGroups({
        catalog: defaultCatalog,
        sandbox,
        javascript: undefined,
        shipped: () => Promise.resolve(shippedTools()),
      }),
      [...defaultCatalog.components(), ...scorerComponents(sandbox && sandboxPython(sandbox))],
      { functions: defaultCatalog, skills: defaultCatalog, hasMemories: false },
    );
    const model = setting("OPENAI_MODEL");
    const configured = setting("OPENAI_API_KEY") !== undefined;
    const shipped = shippedTemplates({ model, configured, sandbox: sandbox !== undefined });
    this.#templates = new Map(
      [...shipped.teams(), ...defaultCatalog.teams()].map(({ name, component }) => [
        name,
        component,
      ]),
    );
  }

  template(name: string): ComponentModel | undefined {
    return this.#templates.get(name);
  }

  templateNames(): string[] {
    return [...this.#templates.keys()].toSorted();
  }

  /** Makes a model ready to be loaded, and finds its mistakes. */
  async prepare(
    model: ComponentModel,
    roles: readonly ComponentRole[],
    path: string,
  ): Promise<{ model: ComponentModel; issues: Issue[] }> {
    const prepared = await this.#registry.prepare(model, path);
    const { issues } = await this.#registry.inspect(prepared, roles, path);
    return { model: prepared, issues };
  }

  load<T extends Component | Subject>(
    model: ComponentModel,
    role: readonly ComponentRole[],
  ): Promise<T> {
    return this.#registry.load<T & Component>(model, role);
  }
}

function setting(name: string): string | undefined {
  return readEnv({}, name);
}

function sandboxOfProcess(): SandboxAddress | undefined {
  const url = setting("SANDBOX_URL");
  if (url === undefined) return undefined;
  const apiKey = setting("SANDBOX_KEY");
  return { url, ...(apiKey !== undefined && { apiKey }) };
}
