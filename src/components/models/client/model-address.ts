import { isPlaceholder, placeholderMessage } from "../../../core/models/placeholder-address.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import type { Note } from "../../../core/component/component.ts";
import { errorMessage } from "../../../core/errors.ts";
import { type OutgoingDependencies, readEnv, Secrets } from "../../../outgoing/dependencies.ts";

/** The address of a model. */
export interface ModelAddress {
  url: string;
  /** The setting with the key, if the config gives none. */
  keyName: string;
}

/**
 * The key for an address: the config's, otherwise the setting's.
 *
 * @param input `api_key` of the config
 * @throws ModelError `auth` when there is none, or the setting's may not be sent to this address
 * @throws TroupeError when the config refers to a secret that does not exist or must not be sent there
 */
export function resolveKey(
  input: string | null | undefined,
  { url, keyName }: ModelAddress,
  secrets: Secrets,
  dependencies: OutgoingDependencies,
): string {
  if (input != null) return secrets.resolve(input);
  const setting = readEnv(dependencies, keyName);
  const host = URL.canParse(url) ? new URL(url).host : url;
  const advice =
    `Give the key of "${host}" as api_key, plain or as a reference such as "env:NAME". ` +
    "If the server needs no key, as many local ones, any text will do.";
  if (setting === undefined)
    throw new ModelError(
      "auth",
      `The model client has no api_key, and ${keyName} is not set. ${advice}`,
    );
  try {
    return secrets.resolve(setting);
  } catch (cause) {
    throw new ModelError(
      "auth",
      `The model client has no api_key, and ${keyName} may not be sent to "${host}". ${advice}`,
      { cause },
    );
  }
}

/** The keys of a client's address in its config. */
type AddressKey = "base_url" | "azure_endpoint";

/** @throws ModelError `bad_request` for a text that is to be replaced */
export function requireAddress(key: AddressKey, address: string | null | undefined): void {
  if (address == null || !isPlaceholder(address)) return;
  throw new ModelError("bad_request", `${key} of the model client ${placeholderMessage(address)}.`);
}

/** The note for such a text; undefined for another one. */
export function placeholderNote(
  key: AddressKey,
  address: string | null | undefined,
): Note | undefined {
  if (address == null || !isPlaceholder(address)) return undefined;
  return { path: `config.${key}`, message: placeholderMessage(address) };
}

/** The note for a key that is missing on this server, or not sent to the address. A program may set its keys later. */
export function keyNotes(
  raw: string | null | undefined,
  address: ModelAddress,
  dependencies: OutgoingDependencies,
): Note[] {
  if (dependencies.secret === undefined) return [];
  try {
    resolveKey(raw, address, new Secrets(dependencies, address.url, {}), dependencies);
    return [];
  } catch (error) {
    return [{ path: "config.api_key", message: errorMessage(error) }];
  }
}
