import { crc32, deflateRawSync } from "node:zlib";

/** An entry of an archive that a test writes byte by byte. */
export interface Entry {
  path: string;
  content: string | Uint8Array;
  mode?: number;
  stored?: boolean;
  /** States another size. */
  size?: number;
  crc?: number;
  flags?: number;
  method?: number;
}

/** A zip archive of these entries. */
export function zip(entries: readonly Entry[]): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const {
    path,
    content,
    mode = 0o100644,
    stored = false,
    size,
    crc,
    flags = 0,
    method,
  } of entries) {
    const bytes = Buffer.from(content as string);
    const packed = stored ? bytes : deflateRawSync(bytes);
    const name = Buffer.from(path);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method ?? (stored ? 0 : 8), 4);
    common.writeUInt32LE(crc ?? crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size ?? bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, name, packed]);
    const head = Buffer.alloc(14);
    head.writeUInt32LE(mode * 0x10000, 6);
    head.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\u0003"), common, head, name]));
    parts.push(local);
    at += local.length;
  }
  const entriesBytes = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006");
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(entriesBytes.length, 12);
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...parts, entriesBytes, end]));
}
