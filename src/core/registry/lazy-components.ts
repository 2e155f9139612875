import { ValueError } from "../errors.ts";
import type { ModelInfo } from "../models/model-info.ts";
import type { Note } from "../component/component.ts";
import type { AnyComponentDefinition, Component } from "../component/component.ts";
import type { ComponentRoles } from "../component/checks/find-issues.ts";
import { DEFAULT_LIMITS, exceededLimit } from "../component/checks/limits.ts";
import { className, publicProvider, WELL_KNOWN_PROVIDERS } from "../component/providers.ts";
import type { ComponentRegistry, Inspected, KnownComponent, RegistryOptions } from "./registry.ts";

/** Components that are imported together when component JSON first names one of them. */
export interface ComponentGroup {
  /** The provider names of all definitions that `load` returns. */
  providers: readonly string[];
  load: () => Promise<readonly AnyComponentDefinition[]>;
}

/**
 * A {@link ComponentRegistry} whose components are imported by name, because importing all of them would slow every
 * start of the Worker. Its results are those of a registry that has everything: JSON that names an unknown provider
 * makes it import the rest.
 */
export class LazyComponents {
  readonly #groups: readonly ComponentGroup[];
  readonly #own: readonly AnyComponentDefinition[];
  readonly #options: RegistryOptions;
  /** By provider name and by bare class name. */
  readonly #groupOf = new Map<string, ComponentGroup>();
  readonly #ownNames = new Set<string>();
  readonly #loaded = new Map<ComponentGroup, readonly AnyComponentDefinition[]>();
  #registry: Promise<ComponentRegistry> | undefined;

  /**
   * @param own components that need no import, registered after those of the groups
   * @throws ValueError when one of them has the provider name of a group's
   */
  constructor(
    groups: readonly ComponentGroup[],
    own: readonly AnyComponentDefinition[],
    options: RegistryOptions,
  ) {
    this.#groups = groups;
    this.#own = own;
    this.#options = options;
    for (const group of groups) {
      for (const provider of group.providers) {
        this.#groupOf.set(provider, group).set(className(provider), group);
      }
    }
    for (const { provider } of own) {
      if (this.#groupOf.get(provider)?.providers.includes(provider)) {
        throw new ValueError(`the provider "${provider}" is Troupe's: register another name`);
      }
      this.#ownNames.add(provider).add(className(provider));
    }
  }

  /** {@link ComponentRegistry.load} */
  async load<T extends Component>(
    model: unknown,
    roles?: ComponentRoles,
    path?: string,
  ): Promise<T> {
    return (await this.#registryFor(model)).load<T>(model, roles, path);
  }

  /** {@link ComponentRegistry.prepare} */
  async prepare<T>(model: T, path?: string): Promise<T> {
    return (await this.#registryFor(model)).prepare(model, path);
  }

  /** {@link ComponentRegistry.loadedPaths} */
  async loadedPaths(model: unknown, roles?: ComponentRoles): Promise<string[]> {
    return (await this.#registryFor(model)).loadedPaths(model, roles);
  }

  /** {@link ComponentRegistry.modelInfos} */
  async modelInfos(model: unknown, roles?: ComponentRoles): Promise<ModelInfo[]> {
    return (await this.#registryFor(model)).modelInfos(model, roles);
  }

  /** {@link ComponentRegistry.inspect} */
  async inspect(model: unknown, roles?: ComponentRoles, path?: string): Promise<Inspected> {
    return (await this.#registryFor(model)).inspect(model, roles, path);
  }

  /** {@link ComponentRegistry.notes} */
  async notes(model: unknown, path?: string): Promise<Note[]> {
    return (await this.#registryFor(model)).notes(model, path);
  }

  /** {@link ComponentRegistry.definitions} */
  async definitions(): Promise<KnownComponent[]> {
    await this.#import(this.#groups);
    return (await this.#present()).definitions();
  }

  /** The registry with all components that `model` names. */
  async #registryFor(model: unknown): Promise<ComponentRegistry> {
    if (this.#loaded.size < this.#groups.length) await this.#import(this.#groupsIn(model));
    return this.#present();
  }

  #groupsIn(model: unknown): Iterable<ComponentGroup> {
    const providers = new Set<string>();
    const limits = { ...DEFAULT_LIMITS, ...this.#options };
    const exceeded = exceededLimit(model, "", limits, ({ provider }) => providers.add(provider));
    // The registry then reports the unknown provider and all other mistakes.
    if (exceeded !== undefined) return this.#groups;
    const groups = new Set<ComponentGroup>();
    for (const provider of providers) {
      const name = publicProvider(WELL_KNOWN_PROVIDERS.get(provider) ?? provider);
      const group = this.#groupOf.get(name);
      if (group !== undefined) groups.add(group);
      else if (!this.#ownNames.has(name)) return this.#groups;
    }
    return groups;
  }

  async #import(wanted: Iterable<ComponentGroup>): Promise<void> {
    const missing = [...wanted].filter((group) => !this.#loaded.has(group));
    if (missing.length === 0) return;
    const loaded = await Promise.all(
      missing.map(async (group) => [group, await definitionsOf(group)] as const),
    );
    for (const [group, definitions] of loaded) this.#loaded.set(group, definitions);
    this.#registry = undefined;
  }

  #present(): Promise<ComponentRegistry> {
    return (this.#registry ??= this.#registered());
  }

  /**
   * Makes a new registry, because among components with the same class name the first registered one gets the bare
   * name.
   */
  async #registered(): Promise<ComponentRegistry> {
    const { ComponentRegistry } = await import("./registry.ts");
    const imported = this.#groups.flatMap((group) => this.#loaded.get(group) ?? []);
    return new ComponentRegistry(this.#options).register(...imported, ...this.#own);
  }
}

/** @throws TypeError when the names of the group are not those of its definitions */
async function definitionsOf(group: ComponentGroup): Promise<readonly AnyComponentDefinition[]> {
  const definitions = await group.load();
  const loaded = definitions
    .map(({ provider }) => provider)
    .toSorted()
    .join(" ");
  const named = group.providers.toSorted().join(" ");
  if (loaded === named) return definitions;
  throw new TypeError(`a group of components names ${named} and loads ${loaded}`);
}
