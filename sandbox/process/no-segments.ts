import { writeFile } from "node:fs/promises";

/** From the kernel's headers: the name of an architecture, and the number of `shmget` on it. */
const ARCHITECTURES: Readonly<Record<string, { audit: number; shmget: number }>> = {
  x64: { audit: 0xc000003e, shmget: 29 },
  arm64: { audit: 0xc00000b7, shmget: 194 },
};

const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const NO_SUCH_CALL = 0x00050000 + 38;

/** Where the data of a filter has them. */
const NUMBER = 0;
const ARCHITECTURE = 4;

/** Numbers from here on are those of another binary interface of x64. */
const X32 = 0x40000000;

/**
 * Writes a filter of system calls for bubblewrap, without which code could make segments of shared memory of System V: they
 * belong to no process, so that their size would be counted nowhere. The calls of other architectures are refused, too: they have
 * other numbers.
 *
 * @returns whether there is one for this machine
 */
export async function writeSegmentFilter(file: string): Promise<boolean> {
  const machine = ARCHITECTURES[process.arch];
  if (machine === undefined) return false;
  const instructions: [code: number, yes: number, no: number, value: number][] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [JUMP_IF_EQUAL, 0, 3, machine.audit],
    [LOAD, 0, 0, NUMBER],
    [JUMP_IF_AT_LEAST, 1, 0, X32],
    [JUMP_IF_EQUAL, 0, 1, machine.shmget],
    [RETURN, 0, 0, NO_SUCH_CALL],
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, yes, no, value]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  await writeFile(file, bytes, { mode: 0o644 });
  return true;
}
