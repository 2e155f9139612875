import type { JavaScriptHost } from "../core/code/javascript-host.ts";
import { componentsFor, componentsOf } from "../core/registry/component-classes.ts";
import type { ToolCatalog } from "../core/tools/catalog.ts";
import type { ComponentGroup } from "../core/registry/lazy-components.ts";
import type { ModelDependencies } from "./models/workers-ai/binding.ts";
import { PROVIDERS } from "./provider-names.ts";
import type { SandboxAddress } from "./sandbox/client/sandbox-connection.ts";

/** Dependencies of components and templates on their deployment. */
export interface GroupDependencies extends ModelDependencies {
  /** The tools registered in code. */
  catalog: ToolCatalog;
  sandbox: SandboxAddress | undefined;
  /** Runs JavaScript; undefined where none runs. */
  javascript: (() => Promise<JavaScriptHost>) | undefined;
  /** The tools of the templates that Troupe ships. */
  shipped: () => Promise<ToolCatalog>;
}

/**
 * The components of the service, grouped by the modules that contain their code. The names of a group stand in
 * `provider-names.ts`, which `npm run providers` writes from its definitions: a start needs the names without the code.
 */
export function componentGroups(dependencies: GroupDependencies): ComponentGroup[] {
  return componentImports(dependencies).map(({ group, load }) => ({
    providers: PROVIDERS[group],
    load,
  }));
}

/** A group by its name in `provider-names.ts`, and what imports its code. */
interface ComponentImport {
  group: keyof typeof PROVIDERS;
  load: ComponentGroup["load"];
}

/** The imports of all groups, in the order in which a registry gets them. */
export function componentImports(dependencies: GroupDependencies): ComponentImport[] {
  const { catalog, sandbox, javascript, shipped } = dependencies;
  return [
    {
      group: "basic",
      load: async () => componentsOf(await import("../core/registry/basic-classes.ts")),
    },
    {
      group: "teams",
      load: async () => componentsOf(await import("../core/registry/team-classes.ts")),
    },
    {
      group: "parts",
      async load() {
        const { furtherParts } = await import("../core/registry/parts-components.ts");
        const { sandboxPython } = await import("./sandbox/deployed.ts");
        return furtherParts(
          catalog,
          sandbox && sandboxPython(sandbox, {}, dependencies),
          await shipped(),
          await javascript?.(),
        );
      },
    },
    {
      group: "models",
      load: async () => componentsFor(await import("./models/classes.ts"), dependencies),
    },
    {
      group: "embeddings",
      load: async () => componentsFor(await import("./embeddings/classes.ts"), dependencies),
    },
    {
      group: "memories",
      load: async () => componentsFor(await import("./memories/classes.ts"), dependencies),
    },
    {
      group: "httpTool",
      load: async () => componentsFor(await import("./http-tool/classes.ts"), dependencies),
    },
    {
      group: "a2a",
      load: async () => componentsFor(await import("./a2a/classes.ts"), dependencies),
    },
    {
      group: "mcp",
      load: async () => componentsFor(await import("./mcp/classes.ts"), dependencies),
    },
    {
      group: "sandbox",
      load: async () =>
        (await import("./sandbox/deployed.ts")).sandboxComponents(sandbox, {
          ...dependencies,
          javascript: await javascript?.(),
        }),
    },
  ];
}
