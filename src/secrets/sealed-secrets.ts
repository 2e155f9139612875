import type { ComponentModel } from "../core/component/component-model.ts";
import { ComponentError, type Issue, TroupeError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { ComponentSecrets, OpenedComponent } from "./component-secrets.ts";
import { KeptSecrets, ONE_OWNER, type SecretOwners } from "./kept-secrets.ts";
import { REDACTED } from "./redacted-secrets.ts";
import { mapSecrets, type SecretField, secretFields, secretId } from "./secret-fields.ts";
import { isSealed, Sealer } from "./sealer.ts";

/** The owner of a component, as errors and requests name it. */
export interface ComponentOwner {
  what: string;
  /** The field of requests that has the component. */
  field: "component" | "embedding";
  /** The request that gives the component again. */
  put: string;
}

const TEAM: ComponentOwner = {
  what: "the team",
  field: "component",
  put: "PUT /v1/teams/{team}/component",
};

/**
 * Secrets in components, encrypted with the setting SECRETS_KEY (32 bytes as base64). References to secrets of the
 * Worker (`env:NAME`) stay readable.
 */
export class SealedSecrets implements ComponentSecrets {
  readonly #sealer: Sealer;
  readonly #owners: SecretOwners;
  readonly #owner: ComponentOwner;

  /**
   * @param setting without it only components without secrets can be stored
   * @param owner whose component it is
   */
  constructor(
    setting: string | undefined,
    owners: SecretOwners = ONE_OWNER,
    owner: ComponentOwner = TEAM,
  ) {
    this.#sealer = new Sealer(setting);
    this.#owners = owners;
    this.#owner = owner;
  }

  /**
   * Seals the secrets of component JSON for storage. Where it has the redaction marker, the secret of `previous` is
   * kept that the component of the same name has there, so that a component can be read, changed and sent back; but only where nothing
   * beside it was changed that could send it elsewhere, else a caller who may change a team could have its secrets sent to a server of
   * theirs.
   *
   * @throws TroupeError `secrets_not_configured` when there is a secret and no key
   * @throws ComponentError naming the redacted secrets that have to be given again
   */
  async seal(component: ComponentModel, previous: ComponentModel | null): Promise<ComponentModel> {
    const fields = secretFields(component);
    const stored = await this.#storedSecrets(component, fields, previous);
    const kept = new Map(
      [...stored].filter(([, { value }]) => isSealed(value)).map(([id, { value }]) => [id, value]),
    );
    // Earlier versions stored some secrets as plain text: they are sealed now.
    const fresh = fields
      .filter(({ id }) => !kept.has(id))
      .map((field) => ({ ...field, value: stored.get(field.id)?.value ?? field.value }));
    if (fresh.length > 0 && !this.#sealer.configured) throw this.#notConfigured(fresh);
    const sealed = await Promise.all(
      fresh.map(async ({ id, value }) => [id, await this.#sealer.seal(value)] as const),
    );
    return replaced(component, new Map([...kept, ...sealed]));
  }

  async restore(sealed: ComponentModel, present: ComponentModel): Promise<ComponentModel> {
    const shown = redacted(sealed);
    const keptAt = await this.#keptFrom(present, shown);
    const kept = new Map(
      secretFields(shown).flatMap((field) => {
        const { found } = keptAt(field);
        return found === undefined ? [] : [[field.id, found.value] as const];
      }),
    );
    return replaced(sealed, kept);
  }

  async open(sealed: ComponentModel): Promise<ComponentModel> {
    const { component, unreadable, cause } = await this.openReadable(sealed);
    if (unreadable.length === 0) return component;
    const { what, put } = this.#owner;
    throw this.#sealer.unreadable(
      { what: `A stored secret of ${what}`, remedy: `give the secret again in ${put}` },
      { issues: unreadable.map((path) => this.#issue(path, UNREADABLE)), cause },
    );
  }

  async openReadable(sealed: ComponentModel): Promise<OpenedComponent> {
    const unreadable: string[] = [];
    let cause: unknown;
    const open = async ({ path, value, maybePlain }: SecretField): Promise<string> => {
      if (maybePlain && !isSealed(value)) return value;
      try {
        return await this.#sealer.open(value);
      } catch (error) {
        cause ??= error;
        unreadable.push(path);
        return REDACTED;
      }
    };
    const plain = new Map<string, string>();
    for (const field of secretFields(sealed)) plain.set(field.id, await open(field));
    return { component: replaced(sealed, plain), unreadable, cause };
  }

  redact(sealed: ComponentModel): ComponentModel {
    return redacted(sealed);
  }

  /** The stored secrets that redacted fields stand for, by id. @throws ComponentError */
  async #storedSecrets(
    component: ComponentModel,
    fields: readonly SecretField[],
    previous: ComponentModel | null,
  ): Promise<Map<string, SecretField>> {
    const markers = fields.filter(({ value }) => value === REDACTED);
    const stored = new Map<string, SecretField>();
    if (markers.length === 0) return stored;
    const keptAt = await this.#keptFrom(previous, component);
    const issues: Issue[] = [];
    for (const field of markers) {
      const { found, difference } = keptAt(field);
      if (found !== undefined) stored.set(field.id, found);
      else if (difference === undefined) issues.push(this.#issue(field.path, NOT_STORED));
      else issues.push(this.#issue(field.path, changedBeside(this.#inRequest(difference))));
    }
    if (issues.length === 0) return stored;
    throw new ComponentError("value", "Secrets are missing: give them again.", { issues });
  }

  /** For each redacted secret of a component, the stored one that it stands for, or what forbids that. */
  async #keptFrom(
    previous: ComponentModel | null,
    component: ComponentModel,
  ): Promise<(field: SecretField) => { found?: SecretField; difference?: string | undefined }> {
    if (previous === null) return () => ({});
    const known = new Map(secretFields(previous).map((field) => [field.id, field]));
    const kept = new KeptSecrets(
      redacted(previous),
      mapSecrets(component, ({ value }) => (value === REDACTED ? REDACTED : GIVEN)),
      await this.#owners.loadedPaths(component),
      this.#owners,
    );
    return ({ keys, part }) => {
      const candidates = kept.candidates(keys).flatMap(({ keys: place, difference }) => {
        const found = known.get(secretId(place, part));
        return found === undefined ? [] : [{ found, difference }];
      });
      const same = candidates.find(({ difference }) => difference === undefined);
      return same ? { found: same.found } : { difference: candidates[0]?.difference };
    };
  }

  #notConfigured(fields: readonly Pick<SecretField, "path">[]): TroupeError {
    return new TroupeError(
      "secrets_not_configured",
      'SECRETS_KEY is not set, so secrets cannot be stored. Set it, or refer to a secret of the Worker as "env:NAME".',
      { issues: fields.map(({ path }) => this.#issue(path, "is a secret")) },
    );
  }

  #issue(path: string, message: string): Issue {
    return { path: this.#inRequest(path), message };
  }

  /** A path that begins with `component`, as the client knows it. */
  #inRequest(path: string): string {
    return this.#owner.field + path.slice("component".length);
  }
}

/** Stands for a new secret in comparisons. */
const GIVEN = "given";

const AGAIN = 'give it again, or a reference such as "env:NAME"';
const NOT_STORED = `is redacted, and no secret is stored for this place; ${AGAIN}`;
const UNREADABLE = `was stored with another SECRETS_KEY; ${AGAIN}`;

/** @param path the place that has changed since the secret was stored */
function changedBeside(path: string): string {
  return `is redacted, and the stored secret may not be used where ${path} is another; ${AGAIN}`;
}

function redacted<T extends JsonObject>(component: T): T {
  return mapSecrets(component, () => REDACTED);
}

function replaced(component: ComponentModel, values: ReadonlyMap<string, string>): ComponentModel {
  return mapSecrets(component, ({ id, value }) => values.get(id) ?? value);
}
