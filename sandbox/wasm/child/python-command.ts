import type { ExecResult } from "just-bash/browser";
import type { Watch } from "./imports.ts";
import type { Python, PythonRun } from "./python.ts";

/** Output limit of one run, which the shell keeps in memory. */
const OUTPUT_BYTES = 32 * 1024 * 1024;

/** A parsed command line of Python. */
type Parsed = Pick<PythonRun, "mode" | "source" | "argv" | "path"> | "version" | { wrong: string };

/** The shell command `python3`. */
export function pythonCommand(
  python: Python,
  args: readonly string[],
  context: {
    cwd: string;
    stdin: Uint8Array;
    environment: Record<string, string>;
  },
  watch: Watch,
): ExecResult {
  const parsed = parse(args, context);
  if (parsed === "version") return said(`Python ${python.version}\n`, "", 0);
  if ("wrong" in parsed) return said("", `python3: ${parsed.wrong}\n`, 2);
  const streams = { stdout: new Collected(), stderr: new Collected() };
  const end = python.run(
    { ...parsed, cwd: context.cwd, environment: context.environment },
    {
      // Standard input was read as the program.
      stdin: parsed.argv[0] === "-" ? new Uint8Array(0) : context.stdin,
      stdout: (bytes) => streams.stdout.add(bytes),
      stderr: (bytes) => streams.stderr.add(bytes),
    },
    watch,
  );
  if (end.kind === "crashed") streams.stderr.add(Buffer.from(`\nStopped: ${end.message}.\n`));
  const stdout = streams.stdout.bytes().toString("latin1");
  const stderr = streams.stderr.bytes().toString("utf8");
  return { ...said(stdout, stderr, end.exitCode), stdoutKind: "bytes", stdoutEncoding: "binary" };
}

function parse(
  args: readonly string[],
  { cwd, stdin }: { cwd: string; stdin: Uint8Array },
): Parsed {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    const next = args[at + 1];
    if (arg === "-V" || arg === "--version") return "version";
    if (arg === "-c" || arg === "-m") {
      if (next === undefined) return { wrong: `argument expected for the ${arg} option` };
      const argv = [arg, ...args.slice(at + 2)];
      return { mode: arg === "-c" ? "code" : "module", source: next, argv, path: cwd };
    }
    if (arg === "-W" || arg === "-X") at++;
    else if (arg === "-" || !arg.startsWith("-")) return program(args.slice(at), cwd, stdin);
    else if (!/^-[bBdEhiIOPqRsSuvWxX]+/.test(arg)) return { wrong: `unknown option ${arg}` };
  }
  return program(["-"], cwd, stdin);
}

function program(argv: string[], cwd: string, stdin: Uint8Array): Parsed {
  const [file = "-"] = argv;
  if (file === "-")
    return { mode: "code", source: Buffer.from(stdin).toString("utf8"), argv, path: cwd };
  const path = file.startsWith("/") ? file : `${cwd}/${file}`;
  return { mode: "file", source: "", argv, path: path.slice(0, path.lastIndexOf("/")) || "/" };
}

function said(stdout: string, stderr: string, exitCode: number): ExecResult {
  return { stdout, stderr, exitCode };
}

class Collected {
  readonly #pieces: Buffer[] = [];
  #length = 0;

  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > OUTPUT_BYTES) throw new RangeError("too much output");
    this.#pieces.push(Buffer.from(bytes));
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
