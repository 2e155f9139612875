import { createHash } from "node:crypto";
import { crc32, deflateRawSync } from "node:zlib";

type Files = Readonly<Record<string, string | Uint8Array>>;

/** A wheel with these files. `tag` is what its name says about where it runs. */
export function wheel(
  name: string,
  version: string,
  files: Files,
  tag = "py3-none-any",
): Buffer<ArrayBuffer> {
  const info = `${name}-${version}.dist-info`;
  const all = {
    ...files,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: `Wheel-Version: 1.0\nRoot-Is-Purelib: ${tag === "py3-none-any"}\nTag: ${tag}\n`,
  };
  const record = Object.entries(all).map(([path, content]) => {
    const digest = createHash("sha256").update(content).digest("base64url");
    return `${path},sha256=${digest},${Buffer.byteLength(content)}`;
  });
  return zip({ ...all, [`${info}/RECORD`]: `${record.join("\n")}\n${info}/RECORD,,\n` });
}

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const DEFLATED = 8;

/** A zip file without times, so that the same files give the same bytes. */
function zip(files: Files): Buffer<ArrayBuffer> {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(Buffer.byteLength(content), 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([uint32(LOCAL_HEADER), common, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(uint32(CENTRAL_HEADER), uint16(VERSION), common, rest, name);
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  const count = Object.keys(files).length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, central, uint32(END), end]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
