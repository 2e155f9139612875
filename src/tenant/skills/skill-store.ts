import type {
  ListedSkill,
  SkillContent,
  SkillInfo,
  SkillVersion,
} from "../../contract/tenant/skill.ts";
import type { Database } from "../../sqlite/database.ts";

/** The files of a version lie one after the other in pieces of this size: a row has 2 MB at most. */
const PIECE_BYTES = 1_000_000;

/** A version as it is stored, besides its number. */
interface VersionRecord extends Omit<SkillContent, "bytes"> {
  size: number;
  created_at: string;
}

/** A version that was found. */
export interface StoredVersion extends VersionRecord {
  name: string;
  version: number;
}

type Row = { name: string; version: number; record: string };

const NEWEST =
  "select name, version, record from skill_version where name = ? order by version desc limit 1";

/** The skills of a tenant: versions, and their files in pieces. */
export class SkillStore {
  readonly #db: Database;
  #bytes: number | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The bytes of all versions. */
  get storedBytes(): number {
    this.#bytes ??=
      this.#db.first<{ n: number }>("select total(record ->> '$.size') as n from skill_version")
        ?.n ?? 0;
    return this.#bytes;
  }

  get count(): number {
    return (
      this.#db.first<{ n: number }>("select count(distinct name) as n from skill_version")?.n ?? 0
    );
  }

  newest(name: string): StoredVersion | undefined {
    return found(this.#db.first<Row>(NEWEST, name));
  }

  version(name: string, version: number): StoredVersion | undefined {
    return found(
      this.#db.first<Row>(
        "select name, version, record from skill_version where name = ? and version = ?",
        name,
        version,
      ),
    );
  }

  /** The newest version with these files. */
  withHash(name: string, hash: string): StoredVersion | undefined {
    return found(
      this.#db.first<Row>(
        "select name, version, record from skill_version where name = ? and record ->> '$.hash' = ? order by version desc limit 1",
        name,
        hash,
      ),
    );
  }

  /** Adds a version. */
  add(name: string, { bytes, ...content }: SkillContent, now: number): StoredVersion {
    const version = (this.newest(name)?.version ?? 0) + 1;
    const created_at = new Date(now).toISOString();
    const record: VersionRecord = { ...content, size: bytes.length, created_at };
    this.#db.transaction(() => {
      this.#db.write(
        "insert into skill_version values (?, ?, ?)",
        name,
        version,
        JSON.stringify(record),
      );
      for (let place = 0; place * PIECE_BYTES < bytes.length; place++) {
        const piece = bytes.slice(place * PIECE_BYTES, (place + 1) * PIECE_BYTES);
        this.#db.write(
          "insert into skill_piece values (?, ?, ?, ?)",
          name,
          version,
          place,
          piece.buffer,
        );
      }
    });
    if (this.#bytes !== undefined) this.#bytes += bytes.length;
    return { ...record, name, version };
  }

  /** @returns whether there was one */
  remove(name: string): boolean {
    if (this.newest(name) === undefined) return false;
    this.#db.transaction(() => {
      this.#db.write("delete from skill_piece where name = ?", name);
      this.#db.write("delete from skill_version where name = ?", name);
    });
    this.#bytes = undefined;
    return true;
  }

  /** The newest versions of skills behind a name. */
  page(after: string, limit: number): StoredVersion[] {
    return this.#db
      .all<Row>(
        `select name, version, record from skill_version as one
          where name > ? and version = (select max(version) from skill_version where name = one.name)
          order by name limit ?`,
        after,
        limit,
      )
      .map((row) => found(row) as StoredVersion);
  }

  /** The versions below a number, the newest first. */
  versions(name: string, below: number, limit: number): StoredVersion[] {
    return this.#db
      .all<Row>(
        "select name, version, record from skill_version where name = ? and version < ? order by version desc limit ?",
        name,
        below,
        limit,
      )
      .map((row) => found(row) as StoredVersion);
  }

  /** The bytes of a file; undefined if the version has none at this path. */
  file({ name, version, files }: StoredVersion, path: string): Uint8Array<ArrayBuffer> | undefined {
    let from = 0;
    for (const { path: other, size } of files) {
      if (other === path) return this.#bytesAt(name, version, from, size);
      from += size;
    }
    return undefined;
  }

  #bytesAt(name: string, version: number, from: number, size: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(size);
    const end = from + size;
    for (let place = Math.floor(from / PIECE_BYTES); place * PIECE_BYTES < end; place++) {
      const row = this.#db.first<{ bytes: ArrayBuffer }>(
        "select bytes from skill_piece where name = ? and version = ? and place = ?",
        name,
        version,
        place,
      );
      if (row === undefined) throw new TypeError(`a piece of the skill ${name} is missing`);
      const begin = place * PIECE_BYTES;
      const piece = new Uint8Array(row.bytes).subarray(Math.max(0, from - begin), end - begin);
      bytes.set(piece, Math.max(0, begin - from));
    }
    return bytes;
  }
}

function found(row: Row | undefined): StoredVersion | undefined {
  if (row === undefined) return undefined;
  const { name, version, record } = row;
  return { ...(JSON.parse(record) as VersionRecord), name, version };
}

/** A version in a list of versions. */
export function versionOf(stored: StoredVersion): SkillVersion {
  const { version, hash, description, size, files, created_at } = stored;
  return { version, hash, description, size, file_count: files.length, created_at };
}

/** A version in a list of skills. */
export function listedOf(stored: StoredVersion): ListedSkill {
  return { name: stored.name, ...versionOf(stored) };
}

/** A version as the API shows it. */
export function infoOf(stored: StoredVersion): SkillInfo {
  const { name, version, hash, description, text, allowed_tools, front_matter } = stored;
  const { size, files, created_at } = stored;
  return {
    name,
    version,
    hash,
    description,
    text,
    allowed_tools,
    front_matter,
    size,
    files,
    created_at,
  };
}
