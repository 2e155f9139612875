import { ComponentError, TroupeError, ValueError } from "../core/errors.ts";
import type { ComponentModel } from "../core/component/component.ts";
import { looksLikeComponent } from "../core/component/limits.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { mapSecrets, type SecretField, secretFields } from "./secret-fields.ts";

/** Stands for a secret wherever a component is shown; AutoGen writes the same. */
export const REDACTED = "**********";

/** Version of the sealed form: `sealed:1:` and base64 of 12 bytes of nonce and the AES-GCM ciphertext. */
const SEALED = "sealed:1:";
const NONCE_BYTES = 12;

/**
 * The key that secrets are stored with: the setting SECRETS_KEY, 32 bytes as base64. Null when it is not set.
 *
 * @throws ValueError when it is something else
 */
export async function importSecretsKey(setting: string | undefined): Promise<CryptoKey | null> {
  if (setting === undefined || setting.trim() === "") return null;
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = fromBase64(setting.trim());
  } catch {
    bytes = new Uint8Array();
  }
  if (bytes.length !== 32) throw new ValueError("SECRETS_KEY must be 32 bytes as base64");
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

/**
 * Component JSON with its secrets encrypted, to be stored. Call it once, on what came in.
 *
 * @throws TroupeError `secrets_not_configured` when there is a secret and no key
 * @throws ComponentError when the redaction marker stands where a secret belongs
 */
export async function sealSecrets(
  component: ComponentModel,
  key: CryptoKey | null,
): Promise<ComponentModel> {
  const fields = await secretFields(component);
  const issues = fields
    .filter(({ value }) => value === REDACTED)
    .map(({ path }) => ({ path, message: "is the redaction marker; give the secret itself" }));
  if (issues.length > 0) throw refuse(issues);
  if (key === null) {
    if (fields.length === 0) return component;
    throw new TroupeError(
      "secrets_not_configured",
      'SECRETS_KEY is not set, so secrets cannot be stored. Set it, or refer to a secret of the Worker as "env:NAME".',
      { issues: fields.map(({ path }) => ({ path, message: "is a secret" })) },
    );
  }
  return asComponent(await mapSecrets(component, ({ value }) => seal(value, key)));
}

/**
 * Stored component JSON with its secrets in plain, to be loaded.
 *
 * @throws TroupeError `secrets_unreadable` when SECRETS_KEY is not the one they were stored with
 */
export async function openSecrets(
  component: ComponentModel,
  key: CryptoKey | null,
): Promise<ComponentModel> {
  return asComponent(await mapSecrets(component, (field) => open(field, key)));
}

/** Component JSON to be shown: a marker in the place of each secret. Takes plain and stored ones. */
export async function redactSecrets(component: ComponentModel): Promise<ComponentModel> {
  return asComponent(await mapSecrets(component, () => REDACTED));
}

/**
 * A new component in which the redaction marker is replaced by the secret that the present component has in the same
 * place: so that what was shown can be changed and sent back. A secret is kept only where it goes to the same hosts,
 * else whoever may change a team could have its secrets sent to themselves.
 *
 * @param next as it came in @param present opened
 * @throws ComponentError naming the secrets that have to be given again
 */
export async function keepSecrets(
  next: ComponentModel,
  present: ComponentModel,
): Promise<ComponentModel> {
  const known = new Map((await secretFields(present)).map((field) => [field.path, field] as const));
  const issues: { path: string; message: string }[] = [];
  const merged = await mapSecrets(next, (field) => {
    if (field.value !== REDACTED) return field.value;
    const old = known.get(field.path);
    if (old !== undefined && destination(old.owner) === destination(field.owner)) return old.value;
    issues.push({
      path: field.path,
      message:
        old === undefined
          ? "is redacted, and there is no stored secret in this place; give the secret itself"
          : "is redacted, and the stored secret was for another provider or address; give it again",
    });
    return field.value;
  });
  if (issues.length > 0) throw refuse(issues);
  return asComponent(merged);
}

/** Where a component sends its secrets: its provider and the origins of all addresses in its config. */
function destination(owner: JsonObject): string {
  const { provider = null, config = null } = owner;
  return JSON.stringify([provider, [...new Set(origins(config))].toSorted()]);
}

function origins(value: Json): string[] {
  if (typeof value === "string") {
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? [originOf(value)] : [];
  }
  if (typeof value !== "object" || value === null || looksLikeComponent(value)) return [];
  return Object.values(value).flatMap(origins);
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}

async function seal(plain: string, key: CryptoKey): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const text = new TextEncoder().encode(plain);
  const cipher = new Uint8Array(
    await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, key, text),
  );
  return SEALED + toBase64(new Uint8Array([...nonce, ...cipher]));
}

async function open({ path, value }: SecretField, key: CryptoKey | null): Promise<string> {
  try {
    if (key === null || !value.startsWith(SEALED)) throw new TypeError("not sealed or no key");
    const bytes = fromBase64(value.slice(SEALED.length));
    const iv = bytes.subarray(0, NONCE_BYTES);
    const cipher = bytes.subarray(NONCE_BYTES);
    const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, cipher);
    return new TextDecoder().decode(plain);
  } catch (error) {
    throw new TroupeError(
      "secrets_unreadable",
      "A stored secret cannot be read: SECRETS_KEY is not the one it was stored with. Give the secret again.",
      { issues: [{ path, message: "cannot be read" }], cause: error },
    );
  }
}

function refuse(issues: { path: string; message: string }[]): ComponentError {
  return new ComponentError("value", "A secret is missing.", { issues });
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function asComponent(json: JsonObject): ComponentModel {
  return json as unknown as ComponentModel;
}
