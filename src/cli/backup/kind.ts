import type { ArchivedItem } from "./archive-format.ts";
import type { ItemWriter } from "./archive.ts";
import type { ApiError } from "../../client/index.ts";
import type { Issue } from "../terminal/errors.ts";
import type { SecretsFile } from "./secrets-file.ts";
import type { Server } from "./server.ts";

/** The means of a restore of one item, and its reports. */
export interface RestoreContext {
  readonly secrets: SecretsFile;
  /** True if an earlier attempt may have stored a part of the item. */
  readonly resumed: boolean;
  readonly overwrite: boolean;
  readonly json: <T>(name: string) => Promise<T>;
  readonly blob: (name: string) => Promise<Blob>;
  readonly item: ArchivedItem;
  /** The same key for a request that is repeated because this restore of the item was interrupted. */
  readonly idempotencyKey: (part: string) => string;
  /** Reports a part that the server refused. The others are restored. */
  readonly refused: (part: string, error: ApiError) => void;
  /** Reports what was not restored and why. */
  readonly note: (text: string) => void;
  /** Reports what a person has to do. */
  readonly todo: (text: string) => void;
}

/** One kind of what a tenant has: how it is read from a server and written to another one. */
export interface Kind {
  readonly name: string;
  ids(server: Server): AsyncIterable<string>;
  /** @throws ApiError 404 for what was deleted meanwhile, or a part of it */
  read(server: Server, id: string, item: ItemWriter, secrets: SecretsFile): Promise<void>;
  /** True if the server has something with this id. Missing for what only adds to the report. */
  exists?(server: Server, id: string): Promise<boolean>;
  /** Makes room for an item that is overwritten. */
  remove?(server: Server, id: string): Promise<void>;
  /** The item without which this one is not restored. */
  within?(id: string): Pick<ArchivedItem, "kind" | "id">;
  /**
   * Checks an item before anything is restored.
   *
   * @returns the secrets that it lacks
   * @throws CliError for one that cannot be restored
   */
  check?(server: Server, context: Pick<RestoreContext, "secrets" | "json">): Promise<Issue[]>;
  write(server: Server, id: string, context: RestoreContext): Promise<void>;
}
