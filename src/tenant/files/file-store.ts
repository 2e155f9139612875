import type {
  FileSight,
  KeptFile,
  KeptFileQuery,
  NewFile,
} from "../../contract/tenant/kept-file.ts";
import type { Database } from "../../sqlite/database.ts";

/** A bucket of R2, as far as files need it. */
export interface FileBucket {
  put: (key: string, content: Uint8Array<ArrayBuffer>) => Promise<unknown>;
  get: (key: string) => Promise<{ arrayBuffer: () => Promise<ArrayBuffer> } | null>;
  delete: (keys: string[]) => Promise<unknown>;
  list: (page: { prefix: string; limit: number }) => Promise<{ objects: { key: string }[] }>;
}

/** Bytes lie in pieces of this size: a row has 2 MB at most. */
const PIECE_BYTES = 1_000_000;
/** An upload whose bytes are not in the bucket after this time was interrupted. */
const UPLOAD_MS = 600_000;
/** Files that are erased together. */
const ERASED_AT_ONCE = 100;

interface FileRecord extends Pick<KeptFile, "filename" | "media_type" | "bytes"> {
  /** When it expires, in epoch milliseconds. The row has an earlier time until the bytes are stored. */
  until: number;
  /** True if the bytes are in the bucket. */
  bucket?: true;
}

type Row = { id: string; made: number; owner: string; purpose: string; record: string };

const COLUMNS = "id, made, owner, purpose, record";

/** The files that were uploaded to a tenant. Their bytes are in pieces beside them, or in the bucket, if there is one. */
export class FileStore {
  readonly #db: Database;
  readonly #tenant: string;
  readonly #bucket: () => FileBucket | undefined;
  #bytes: number | undefined;

  constructor(db: Database, tenant: string, bucket: () => FileBucket | undefined) {
    this.#db = db;
    this.#tenant = tenant;
    this.#bucket = bucket;
  }

  /** The bytes of all files. */
  get storedBytes(): number {
    this.#bytes ??=
      this.#db.first<{ n: number }>("select total(record ->> '$.bytes') as n from kept_file")?.n ??
      0;
    return this.#bytes;
  }

  /** The bytes of those that lie in this object. */
  get bytesHere(): number {
    const query =
      "select total(record ->> '$.bytes') as n from kept_file where record ->> '$.bucket' is null";
    return this.#db.first<{ n: number }>(query)?.n ?? 0;
  }

  get count(): number {
    return this.#db.first<{ n: number }>("select count(*) as n from kept_file")?.n ?? 0;
  }

  /** When the next file is to be erased, in epoch milliseconds. */
  get nextExpiry(): number | null {
    return (
      this.#db.first<{ at: number | null }>("select min(until) as at from kept_file")?.at ?? null
    );
  }

  async add(file: NewFile, now: number): Promise<KeptFile> {
    const { filename, media_type, purpose, owner, expires_in, content } = file;
    const id = `file-${crypto.randomUUID().replaceAll("-", "")}`;
    const bucket = this.#bucket();
    const until = now + expires_in * 1000;
    const record: FileRecord = {
      filename,
      media_type,
      bytes: content.length,
      until,
      ...(bucket && { bucket: true }),
    };
    // The row of an upload to the bucket comes first, so that an interrupted one is erased there.
    const begun = bucket ? Math.min(until, now + UPLOAD_MS) : until;
    const isReady = bucket === undefined ? 1 : 0;
    this.#db.transaction(() => {
      this.#db.write(
        "insert into kept_file values (?, ?, ?, ?, ?, ?, ?)",
        id,
        now,
        begun,
        owner,
        purpose,
        isReady,
        JSON.stringify(record),
      );
      if (bucket === undefined) this.#addPieces(id, content);
    });
    this.#bytes = undefined;
    if (bucket !== undefined) {
      await bucket.put(this.#key(id), content);
      this.#db.write("update kept_file set until = ?, ready = 1 where id = ?", until, id);
    }
    return shown({ id, made: now, owner, purpose, record: JSON.stringify(record) });
  }

  find(id: string, sight: FileSight, now: number): KeptFile | undefined {
    const row = this.#row(id, sight, now);
    return row && shown(row);
  }

  /** Undefined for bytes that are no longer in the bucket. */
  async bytes(id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const row = this.#db.first<{ record: string }>("select record from kept_file where id = ?", id);
    if (row === undefined) return undefined;
    const { bytes, bucket } = JSON.parse(row.record) as FileRecord;
    if (bucket) {
      const found = await this.#bucket()?.get(this.#key(id));
      return found == null ? undefined : new Uint8Array(await found.arrayBuffer());
    }
    const content = new Uint8Array(bytes);
    for (let place = 0; place * PIECE_BYTES < bytes; place++) {
      const piece = this.#db.first<{ bytes: ArrayBuffer }>(
        "select bytes from kept_file_piece where id = ? and place = ?",
        id,
        place,
      );
      if (piece === undefined) throw new TypeError(`a piece of the file ${id} is missing`);
      content.set(new Uint8Array(piece.bytes), place * PIECE_BYTES);
    }
    return content;
  }

  /** The files behind the last one that the caller has; undefined if there is no such file. */
  page(
    { purpose, after, order, limit }: KeptFileQuery,
    sight: FileSight,
    now: number,
  ): KeptFile[] | undefined {
    const last = after === undefined ? undefined : this.#row(after, sight, now);
    if (after !== undefined && last === undefined) return undefined;
    const isBehind = order === "asc" ? ">" : "<";
    return this.#db
      .all<Row>(
        `select ${COLUMNS} from kept_file
          where ready = 1 and until > ? and (? is null or owner = ?) and (? is null or purpose = ?)
            and (? is null or (made, id) ${isBehind} (?, ?))
          order by made ${order}, id ${order} limit ?`,
        now,
        sight ?? null,
        sight ?? null,
        purpose ?? null,
        purpose ?? null,
        last?.made ?? null,
        last?.made ?? null,
        last?.id ?? null,
        limit,
      )
      .map(shown);
  }

  async remove(id: string): Promise<void> {
    await this.#erase([id]);
  }

  /** Erases those that have expired. */
  async prune(now: number): Promise<void> {
    for (;;) {
      const rows = this.#db.all<{ id: string }>(
        "select id from kept_file where until <= ? order by until limit ?",
        now,
        ERASED_AT_ONCE,
      );
      if (rows.length === 0) return;
      await this.#erase(rows.map(({ id }) => id));
    }
  }

  /** Empties the tenant's part of the bucket. */
  async emptyBucket(): Promise<void> {
    const bucket = this.#bucket();
    if (bucket === undefined) return;
    for (;;) {
      const page = { prefix: this.#key(""), limit: ERASED_AT_ONCE };
      const { objects } = await bucket.list(page);
      if (objects.length === 0) return;
      await bucket.delete(objects.map(({ key }) => key));
    }
  }

  #row(id: string, sight: FileSight, now: number): Row | undefined {
    return this.#db.first<Row>(
      `select ${COLUMNS} from kept_file
        where id = ? and ready = 1 and until > ? and (? is null or owner = ?)`,
      id,
      now,
      sight ?? null,
      sight ?? null,
    );
  }

  async #erase(ids: readonly string[]): Promise<void> {
    const inBucket = ids.filter(
      (id) =>
        this.#db.first("select 1 from kept_file where id = ? and record ->> '$.bucket' = 1", id) !==
        undefined,
    );
    if (inBucket.length > 0) await this.#bucket()?.delete(inBucket.map((id) => this.#key(id)));
    this.#db.transaction(() => {
      for (const id of ids) {
        this.#db.write("delete from kept_file_piece where id = ?", id);
        this.#db.write("delete from kept_file where id = ?", id);
      }
    });
    this.#bytes = undefined;
  }

  #addPieces(id: string, content: Uint8Array<ArrayBuffer>): void {
    for (let place = 0; place * PIECE_BYTES < content.length; place++) {
      const piece = content.slice(place * PIECE_BYTES, (place + 1) * PIECE_BYTES);
      this.#db.write("insert into kept_file_piece values (?, ?, ?)", id, place, piece.buffer);
    }
  }

  #key(id: string): string {
    return `${this.#tenant}/${id}`;
  }
}

function shown({ id, made, purpose, record }: Row): KeptFile {
  const { filename, media_type, bytes, until } = JSON.parse(record) as FileRecord;
  return {
    id,
    filename,
    media_type,
    purpose,
    bytes,
    created_at: Math.floor(made / 1000),
    expires_at: Math.floor(until / 1000),
  };
}
