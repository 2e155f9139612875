import type { ArchivedItem, ItemWriter } from "./archive.ts";
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
  /** The same key for each attempt of a request of this restore. */
  readonly idempotencyKey: (part: string) => string;
  /** Reports what was not restored and why. */
  readonly note: (text: string) => void;
  /** Reports what a person has to do. */
  readonly todo: (text: string) => void;
}

/** One kind of what a tenant has: how it is read from a server and written to another one. */
export interface Kind {
  readonly name: string;
  ids(server: Server): AsyncIterable<string>;
  /** @throws ApiError 404 for what was deleted meanwhile */
  read(server: Server, id: string, item: ItemWriter, secrets: SecretsFile): Promise<void>;
  /** True if the server has something with this id. Missing for what only adds to the report. */
  exists?(server: Server, id: string): Promise<boolean>;
  /** Makes room for an item that is overwritten. */
  remove?(server: Server, id: string): Promise<void>;
  /** The item without which this one is not restored. */
  within?(id: string): Pick<ArchivedItem, "kind" | "id">;
  write(server: Server, id: string, context: RestoreContext): Promise<void>;
}
