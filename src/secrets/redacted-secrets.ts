import type { Note } from "../core/component/component.ts";
import type { Issue } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { mapSecrets, secretFields, secretId } from "./secret-fields.ts";
import { secretsFor, type Settings } from "./secret-hosts.ts";
import { StoredPlaces } from "./stored-places.ts";

/** Stands for a secret wherever a component is shown; AutoGen writes the same. */
export const REDACTED = "**********";

/** The address to which a component sends its key, and the name that the secret with it usually has. */
export interface KeyAddress {
  url: string;
  keyName: string;
}

/** A component in which references have taken the place of redacted secrets, as far as that is possible. */
export interface ResolvedComponent {
  component: JsonObject;
  /** A note for each replaced secret. */
  notes: Note[];
  /** Redacted secrets that nothing can take the place of. */
  issues: Issue[];
}

/** Puts references to the Worker's secrets in the place of redacted ones: AutoGen dumps every key as the marker. */
export class RedactedSecrets {
  readonly #settings: Settings;
  readonly #addressOf: (component: JsonObject) => KeyAddress | undefined;

  /** @param addressOf undefined for components that are not known to send a key anywhere */
  constructor(
    settings: Settings,
    addressOf: (component: JsonObject) => KeyAddress | undefined = () => undefined,
  ) {
    this.#settings = settings;
    this.#addressOf = addressOf;
  }

  /**
   * @param shown the component that it replaces, as it was shown: markers for its secrets stay
   * @param mayLack true if a key of a model that the Worker lacks becomes a reference nevertheless, which fails when the model is called
   */
  resolve(
    component: JsonObject,
    shown: JsonObject = {},
    { mayLack = false }: { mayLack?: boolean } = {},
  ): ResolvedComponent {
    const stored = new Set(
      secretFields(shown).flatMap(({ id, value }) => (value === REDACTED ? id : [])),
    );
    const places = new StoredPlaces(shown, component);
    const notes: Note[] = [];
    const issues: Issue[] = [];
    const resolved = mapSecrets(component, (field) => {
      const { path, value, id, keys, part } = field;
      if (value !== REDACTED || stored.has(id)) return value;
      if (stored.has(secretId(places.of(keys), part))) return value;
      const address = path.endsWith(".api_key") ? this.#addressOf(field.owner) : undefined;
      const name = address && this.#secretFor(address);
      if (name === undefined && address !== undefined && mayLack) {
        const message = `${redactedMessage(address)}. Until then the model cannot be called`;
        notes.push({ path, message });
        return `env:${address.keyName}`;
      }
      if (name === undefined) {
        issues.push({ path, message: redactedMessage(address) });
        return value;
      }
      notes.push({ path, message: `was redacted and is replaced by "env:${name}"` });
      return `env:${name}`;
    });
    return { component: resolved, notes, issues };
  }

  /** The Worker's secret for an address: the usual one, or the only one that may be sent there. */
  #secretFor({ url, keyName }: KeyAddress): string | undefined {
    const names = secretsFor(this.#settings, url);
    if (names.includes(keyName)) return keyName;
    return names.length === 1 ? names[0] : undefined;
  }
}

function redactedMessage(address: KeyAddress | undefined): string {
  const start = `is redacted ("${REDACTED}")`;
  if (address === undefined)
    return `${start}: replace it by the secret, or by a reference to one of the Worker's secrets such as "env:NAME"`;
  const { url, keyName } = address;
  const host = URL.canParse(url) ? new URL(url).host : url;
  return (
    `${start}: replace it by "env:${keyName}", with that secret set and SECRET_HOSTS allowing it for "${host}", or by ` +
    "the key itself (any text for a server that needs none)"
  );
}
