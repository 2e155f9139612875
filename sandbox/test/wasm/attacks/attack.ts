/** What attacks are given to find; none of it may be seen or reached. */
export interface Canaries {
  /** A file of the host with a secret in it. */
  file: string;
  /** A directory of the host that this process could write to. */
  directory: string;
  /** A server on this machine that counts its visitors. */
  port: number;
  /** This process. */
  pid: number;
}

export interface Attack {
  name: string;
  language: "python" | "sh";
  code: (canaries: Canaries) => string;
  /** What must be seen of it. */
  output?: RegExp;
  /** Another block of the same session, a moment later, and what must be seen of that. */
  after?: { code: string; output: RegExp };
  /** What it must end with; left out, anything will do. */
  exitCode?: number;
  endedBy?: "timeout" | "memory" | "crashed";
}

export const python = (
  name: string,
  code: string | Attack["code"],
  seen: Omit<Attack, "name" | "language" | "code">,
): Attack => ({
  name,
  language: "python",
  code: typeof code === "string" ? () => code : code,
  ...seen,
});

export const shell = (
  name: string,
  code: string | Attack["code"],
  seen: Omit<Attack, "name" | "language" | "code">,
): Attack => ({ ...python(name, code, seen), language: "sh" });

/** What an untouched interpreter prints. */
export const UNTOUCHED = {
  code: `import builtins, json, os, sys
print(sorted(os.listdir("/tmp")), json.dumps([1]), sys.stdout is sys.__stdout__, hasattr(sys, "left"), len("abc"))`,
  output: /^\[\] \[1\] True False 3\n$/,
};
