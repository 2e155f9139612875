import { beginningOf } from "../../core/cut.ts";
import { MOST_FILE_BYTES_IN_OBJECT, MOST_FILES } from "../../contract/constants.ts";
import { ok, refuse, type Refused, type Result } from "../../contract/result.ts";
import type { FileCalls } from "../../contract/tenant/kept-file.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import type { FileStore } from "./file-store.ts";

/** Access to the files for the commands. */
export interface FileSource {
  /** Undefined while nothing is stored for the tenant. */
  stored: () => FileStore | undefined;
  /** Creates the tenant's tables first. Refused while the tenant is being deleted, and where it may store nothing more. */
  hold: () => Result<FileStore>;
  /** A file was added or removed: the alarm may have to fire earlier. */
  changed: () => void;
}

/** Commands on the files of a tenant. */
export const fileHandlers = {
  async addFile({ files: source }, file) {
    const held = source.hold();
    if (!held.ok) return held;
    const files = held.value;
    if (files.count >= MOST_FILES) return tooManyFiles();
    if (files.bytesHere + file.content.length > MOST_FILE_BYTES_IN_OBJECT) return tooManyBytes();
    const added = files.add(file, Date.now());
    source.changed();
    const kept = await added;
    source.changed();
    return ok(kept);
  },

  keptFile({ files: source }, id, sight) {
    const found = source.stored()?.find(id, sight, Date.now());
    return found === undefined ? fileNotFound(id) : ok(found);
  },

  async keptBytes({ files: source }, id, sight) {
    const files = source.stored();
    const isThere = files?.find(id, sight, Date.now()) !== undefined;
    const bytes = isThere ? await files.bytes(id) : undefined;
    return bytes === undefined ? fileNotFound(id) : ok(bytes);
  },

  keptFiles({ files: source }, query, sight) {
    const { limit, after } = query;
    const files = source.stored();
    const page = files?.page({ ...query, limit: limit + 1 }, sight, Date.now());
    if (page === undefined)
      return after === undefined ? ok({ files: [], more: false }) : fileNotFound(after);
    return ok({ files: page.slice(0, limit), more: page.length > limit });
  },

  async deleteFile({ files: source }, id, sight) {
    const files = source.stored();
    if (files?.find(id, sight, Date.now()) === undefined) return fileNotFound(id);
    await files.remove(id);
    source.changed();
    return ok(null);
  },
} satisfies Handlers<FileCalls, { files: FileSource }>;

function fileNotFound(id: string): Refused {
  const detail = `There is no file ${JSON.stringify(beginningOf(id, 100))}: it was deleted, has expired, or was never uploaded.`;
  return refuse(404, "file_not_found", detail);
}

function tooManyFiles(): Refused {
  const detail = `The tenant has ${MOST_FILES} files, the most there may be. Delete those that are not used.`;
  const { problem } = refuse(429, "too_many_files", detail, { limit: "files", value: MOST_FILES });
  return { ok: false, problem: { ...problem, repeatable: false } };
}

function tooManyBytes(): Refused {
  const value = MOST_FILE_BYTES_IN_OBJECT;
  const detail = `The tenant's files would have more than ${value} bytes, the most without a bucket. Delete those that are not used, or bind FILES to a bucket of R2.`;
  return refuse(507, "too_many_stored_bytes", detail, { limit: "file_bytes", value });
}
