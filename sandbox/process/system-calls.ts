import { writeFile } from "node:fs/promises";

/** The value of the kernel's headers for an architecture, by the name of Node. */
const AUDIT: Readonly<Record<string, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Numbers of a system call on x64 and on arm64, from the kernel's headers. */
type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

/**
 * The calls that Docker's default profile refuses (docs.docker.com/engine/security/seccomp), and those of System V's shared memory,
 * whose segments belong to no process, so that their size would be counted nowhere. Refused as "not permitted".
 */
const FORBIDDEN: Readonly<Record<string, Numbers>> = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  create_module: [174, undefined],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  get_kernel_syms: [177, undefined],
  get_mempolicy: [239, 236],
  init_module: [175, 105],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mbind: [237, 235],
  migrate_pages: [256, 238],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  name_to_handle_at: [303, 264],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  pivot_root: [155, 41],
  query_module: [178, undefined],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  sysctl: [156, undefined],
  sysfs: [139, undefined],
  syslog: [103, 116],
  umount: [166, 39],
  unshare: [272, 97],
  uselib: [134, undefined],
  userfaultfd: [323, 282],
  ustat: [136, undefined],
  vhangup: [153, 58],
};

/** Refused as unknown, because programs then use an older call that has the same effect and can be checked. */
const UNKNOWN: Readonly<Record<string, Numbers>> = {
  clone3: [435, 435],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  shmget: [29, 194],
};

const CLONE: Numbers = [56, 220];
const PERSONALITY: Numbers = [135, 92];
const SOCKET: Numbers = [41, 198];

/** Flags of `clone` that make a namespace. */
const NAMESPACES = 0x7e020000;
/** The personalities that Docker allows: Linux, with and without the 32-bit address limit, and the question for the present one. */
const PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];
/** The family of sockets between a virtual machine and its host. */
const VSOCK = 40;

/** Numbers from here on are those of another binary interface of x64. */
const X32 = 0x40000000;

/** Instructions of the filter's machine (BPF). */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Where the data of a filter has them; arguments are read in their lower 32 bits. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

const ERRNO = 0x00050000;
/** What a filter may answer, in the order at its end: allowed, EPERM, ENOSYS. */
const ANSWERS = { allowed: 0x7fff0000, forbidden: ERRNO + 1, unknown: ERRNO + 38 } as const;
type Answer = keyof typeof ANSWERS;

interface Instruction {
  code: number;
  value: number;
  /** What follows where a jump's condition holds, and where it does not. Default: the next instruction. */
  yes?: Answer | number;
  no?: Answer | number;
}

/**
 * Writes the filter of system calls for bubblewrap: what ordinary programs need is allowed. Calls of other architectures are
 * refused, because they have other numbers.
 *
 * @returns whether there is one for this machine
 */
export async function writeSystemCallFilter(file: string): Promise<boolean> {
  const audit = AUDIT[process.arch];
  if (audit === undefined) return false;
  await writeFile(file, assembled(instructions(audit)), { mode: 0o644 });
  return true;
}

function instructions(audit: number): Instruction[] {
  const here = (numbers: Numbers): number | undefined => numbers[process.arch === "x64" ? 0 : 1];
  const refuse = (calls: Readonly<Record<string, Numbers>>, yes: Answer): Instruction[] =>
    Object.values(calls)
      .map(here)
      .filter((value) => value !== undefined)
      .map((value) => ({ code: JUMP_IF_EQUAL, value, yes }));
  /** Checks the first argument of one call and answers it. */
  const check = (numbers: Numbers, checks: Instruction[], otherwise: Answer): Instruction[] => [
    { code: JUMP_IF_EQUAL, value: here(numbers) ?? X32, no: checks.length + 2 },
    { code: LOAD, value: FIRST_ARGUMENT },
    ...checks,
    { code: RETURN, value: ANSWERS[otherwise] },
  ];
  const equal = (value: number, yes: Answer): Instruction => ({ code: JUMP_IF_EQUAL, value, yes });
  return [
    { code: LOAD, value: ARCHITECTURE },
    { code: JUMP_IF_EQUAL, value: audit, no: "unknown" },
    { code: LOAD, value: NUMBER },
    { code: JUMP_IF_AT_LEAST, value: X32, yes: "unknown" },
    ...check(CLONE, [{ code: JUMP_IF_ANY_BIT, value: NAMESPACES, yes: "forbidden" }], "allowed"),
    ...check(SOCKET, [equal(VSOCK, "forbidden")], "allowed"),
    ...check(
      PERSONALITY,
      PERSONALITIES.map((one) => equal(one, "allowed")),
      "forbidden",
    ),
    ...refuse(FORBIDDEN, "forbidden"),
    ...refuse(UNKNOWN, "unknown"),
  ];
}

/** The filter as bytes: its instructions, then one for each answer. */
function assembled(program: readonly Instruction[]): Buffer {
  const answers = Object.entries(ANSWERS);
  const all: Instruction[] = [
    ...program,
    ...answers.map(([, value]): Instruction => ({ code: RETURN, value })),
  ];
  const bytes = Buffer.alloc(all.length * 8);
  for (const [index, { code, value, yes = 0, no = 0 }] of all.entries()) {
    const distance = (to: Answer | number): number =>
      typeof to === "number"
        ? to
        : program.length + answers.findIndex(([name]) => name === to) - index - 1;
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(distance(yes), index * 8 + 2);
    bytes.writeUInt8(distance(no), index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
