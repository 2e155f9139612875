import {
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  type SkillFile,
  SkillError,
  tooLargeSkill,
} from "./skill-files.ts";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT = 0xffff;

/** Entries, with those of folders. */
const MAX_ENTRIES = 2_000;

const ENCRYPTED = 0x1;
const STORED = 0;
const DEFLATED = 8;

const FILE_TYPES = 0o170000;
const LINK = 0o120000;
const REGULAR = 0o100000;
const DIRECTORY = 0o040000;

/** Files that systems add to an archive and that belong to no skill. */
const OF_SYSTEMS = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$)/;

/** An entry of an archive's directory. */
interface Entry {
  path: string;
  method: number;
  crc: number;
  packed: number;
  size: number;
  offset: number;
}

/**
 * The files of a zip archive. Nothing is unpacked beyond the sizes that its directory states, and these are added up before.
 *
 * @throws SkillError for an archive that is damaged, has links, or is too large
 */
export async function unzip(archive: Uint8Array<ArrayBuffer>): Promise<SkillFile[]> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const entries = directoryOf(archive, view);
  if (entries.length > MAX_SKILL_FILES) {
    throw refused(`has ${entries.length} files; a skill has ${MAX_SKILL_FILES} at most`);
  }
  if (entries.reduce((sum, { size }) => sum + size, 0) > MAX_SKILL_BYTES) {
    throw tooLargeSkill("archive");
  }
  const files: SkillFile[] = [];
  for (const entry of entries) {
    const bytes = await contentOf(entry, archive, view);
    if (crc32(bytes) !== entry.crc) throw refused("is damaged: its checksum differs", entry.path);
    files.push({ path: entry.path, bytes });
  }
  return files;
}

function refused(message: string, path = "archive"): SkillError {
  return new SkillError([{ path, message }]);
}

const DAMAGED = "is not a zip archive, or is damaged";

function directoryOf(archive: Uint8Array, view: DataView): Entry[] {
  const end = endOf(view);
  const count = view.getUint16(end + 10, true);
  const start = view.getUint32(end + 16, true);
  if (count === 0xffff || start === 0xffffffff)
    throw refused("is in the format ZIP64, and is too large");
  if (count > MAX_ENTRIES)
    throw refused(`has ${count} entries; a skill has ${MAX_SKILL_FILES} files at most`);
  const entries: Entry[] = [];
  for (let at = start, number = 0; number < count; number++) {
    if (at + ENTRY_BYTES > end || view.getUint32(at, true) !== ENTRY) throw refused(DAMAGED);
    const nameBytes = view.getUint16(at + 28, true);
    const next =
      at + ENTRY_BYTES + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (next > end) throw refused(DAMAGED);
    const path = nameOf(archive.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes));
    const type = (view.getUint32(at + 38, true) >>> 16) & FILE_TYPES;
    if (type === LINK) throw refused("is a link, which a skill cannot have", path);
    if (![0, REGULAR, DIRECTORY].includes(type))
      throw refused("is neither a file nor a folder", path);
    if ((view.getUint16(at + 8, true) & ENCRYPTED) !== 0) throw refused("is encrypted", path);
    const isFolder = type === DIRECTORY || path.endsWith("/");
    if (!isFolder && !OF_SYSTEMS.test(path)) {
      entries.push({
        path,
        method: view.getUint16(at + 10, true),
        crc: view.getUint32(at + 16, true),
        packed: view.getUint32(at + 20, true),
        size: view.getUint32(at + 24, true),
        offset: view.getUint32(at + 42, true),
      });
    }
    at = next;
  }
  return entries;
}

/** The place of the record at the end, which a comment may follow. */
function endOf(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT); at--) {
    if (view.getUint32(at, true) !== END) continue;
    if (at + END_BYTES + view.getUint16(at + 20, true) === view.byteLength) return at;
  }
  throw refused(DAMAGED);
}

function nameOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused("has the name of a file that is not in UTF-8");
  }
}

async function contentOf(
  { path, method, packed, size, offset }: Entry,
  archive: Uint8Array<ArrayBuffer>,
  view: DataView,
): Promise<Uint8Array<ArrayBuffer>> {
  if (offset + LOCAL_BYTES > archive.length || view.getUint32(offset, true) !== LOCAL) {
    throw refused("is damaged", path);
  }
  const start =
    offset + LOCAL_BYTES + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + packed > archive.length) throw refused("is damaged", path);
  const data = archive.subarray(start, start + packed);
  if (method === STORED) {
    if (packed !== size) throw refused("is damaged", path);
    return data.slice();
  }
  if (method !== DEFLATED) throw refused("is packed by another method than deflate", path);
  return inflated(data, size, path);
}

/** Stops as soon as there are more bytes than the directory states. */
async function inflated(
  data: Uint8Array<ArrayBuffer>,
  size: number,
  path: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size);
  const stream = new DecompressionStream("deflate-raw");
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  // Its errors are those of the reader.
  void writer.write(data).catch(() => undefined);
  void writer.close().catch(() => undefined);
  let filled = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) break;
      if (filled + value.length > size) {
        throw refused("has more bytes than the archive states", path);
      }
      bytes.set(value, filled);
      filled += value.length;
    }
  } catch (error) {
    void writer.abort().catch(() => undefined);
    if (error instanceof SkillError) throw error;
    throw refused("is damaged", path);
  }
  if (filled !== size) throw refused("has fewer bytes than the archive states", path);
  return bytes;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
