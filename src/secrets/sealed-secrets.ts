import type { ComponentModel } from "../core/component/component-model.ts";
import { looksLikeComponent } from "../core/component/checks/limits.ts";
import { ComponentError, type Issue, TroupeError } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { ComponentSecrets } from "./component-secrets.ts";
import { REDACTED } from "./redacted-secrets.ts";
import { mapSecrets, type SecretField, secretFields } from "./secret-fields.ts";
import { isAddressName } from "./url-secrets.ts";
import { isSealed, Sealer } from "./sealer.ts";

/**
 * Secrets in components, encrypted with the setting SECRETS_KEY (32 bytes as base64). References to secrets of the
 * Worker (`env:NAME`) stay readable.
 */
export class SealedSecrets implements ComponentSecrets {
  readonly #sealer: Sealer;

  /** @param setting without it only components without secrets can be stored */
  constructor(setting: string | undefined) {
    this.#sealer = new Sealer(setting);
  }

  /**
   * Seals the secrets of component JSON for storage. Where it has the redaction marker, the secret of `previous` in the
   * same place is kept, so that a component can be read, changed and sent back; but only where it goes to the same hosts,
   * else a caller who may change a team could have its secrets sent to a server of theirs.
   *
   * @throws TroupeError `secrets_not_configured` when there is a secret and no key
   * @throws ComponentError naming the redacted secrets that have to be given again
   */
  async seal(component: ComponentModel, previous: ComponentModel | null): Promise<ComponentModel> {
    const fields = secretFields(component);
    const stored = storedSecrets(fields, previous);
    const kept = new Map(
      [...stored]
        .filter(([, { value }]) => isSealed(value))
        .map(([path, { value }]) => [path, value]),
    );
    // Earlier versions stored some secrets as plain text: they are sealed now.
    const fresh = fields
      .filter(({ path }) => !kept.has(path))
      .map(({ path, value }) => ({ path, value: stored.get(path)?.value ?? value }));
    if (fresh.length > 0 && !this.#sealer.configured) throw notConfigured(fresh);
    const sealed = await Promise.all(
      fresh.map(async ({ path, value }) => [path, await this.#sealer.seal(value)] as const),
    );
    return replaced(component, new Map([...kept, ...sealed]));
  }

  /** @throws TroupeError `secrets_unreadable` when SECRETS_KEY is not the one they were stored with */
  async open(sealed: ComponentModel): Promise<ComponentModel> {
    const plain = await Promise.all(
      secretFields(sealed).map(async (field) => [field.path, await this.#decrypt(field)] as const),
    );
    return replaced(sealed, new Map(plain));
  }

  redact(sealed: ComponentModel): ComponentModel {
    return mapSecrets(sealed, () => REDACTED) as unknown as ComponentModel;
  }

  async #decrypt({ path, value, maybePlain }: SecretField): Promise<string> {
    if (maybePlain && !isSealed(value)) return value;
    try {
      return await this.#sealer.open(value);
    } catch (error) {
      throw new TroupeError(
        "secrets_unreadable",
        "A stored secret cannot be read: SECRETS_KEY is not the one it was stored with. Give the secret again.",
        { issues: [{ path, message: "cannot be read" }], cause: error },
      );
    }
  }
}

/** The stored secrets that redacted fields stand for, by path. @throws ComponentError */
function storedSecrets(
  fields: readonly SecretField[],
  previous: ComponentModel | null,
): Map<string, SecretField> {
  const known = new Map(
    (previous === null ? [] : secretFields(previous)).map((field) => [field.path, field] as const),
  );
  const stored = new Map<string, SecretField>();
  const issues: Issue[] = [];
  for (const { path, value, owner } of fields) {
    if (value !== REDACTED) continue;
    const old = known.get(path);
    if (old === undefined) {
      issues.push({
        path,
        message:
          'is redacted, and no secret is stored for this place; give it again, or a reference such as "env:NAME"',
      });
    } else if (destination(old.owner) !== destination(owner)) {
      issues.push({
        path,
        message:
          'is redacted, and the stored secret was for another provider or address; give it again, or a reference such as "env:NAME"',
      });
    } else {
      stored.set(path, old);
    }
  }
  if (issues.length === 0) return stored;
  throw new ComponentError("value", "Secrets are missing: give them again.", { issues });
}

/** Where a component sends its secrets: its provider and all addresses in its config. */
function destination({ provider = null, config = null }: JsonObject): string {
  return JSON.stringify([provider, [...new Set(addresses(config, ""))].toSorted()]);
}

function addresses(value: Json, name: string): string[] {
  if (typeof value === "object" && value !== null) {
    if (looksLikeComponent(value)) return [];
    return Object.entries(value).flatMap(([key, item]) =>
      addresses(item, Array.isArray(value) ? name : key),
    );
  }
  if (typeof value === "string" && /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) {
    return [URL.canParse(value) ? new URL(value).origin : value];
  }
  return value !== null && isAddressName(name) ? [`${name}=${value}`] : [];
}

function notConfigured(fields: readonly Pick<SecretField, "path">[]): TroupeError {
  return new TroupeError(
    "secrets_not_configured",
    'SECRETS_KEY is not set, so secrets cannot be stored. Set it, or refer to a secret of the Worker as "env:NAME".',
    { issues: fields.map(({ path }) => ({ path, message: "is a secret" })) },
  );
}

function replaced(component: ComponentModel, values: ReadonlyMap<string, string>): ComponentModel {
  return mapSecrets(
    component,
    ({ path, value }) => values.get(path) ?? value,
  ) as unknown as ComponentModel;
}
