import * as z from "zod";
import type { Note } from "../../core/component/component.ts";
import { errorMessage, ValueError } from "../../core/errors.ts";
import { type OutgoingDependencies, Secrets } from "../../outgoing/dependencies.ts";
import type { SandboxAddress } from "./client/sandbox-connection.ts";

/** Environment variables of code by name, as a config has them. A value may be `env:NAME` of a secret. */
export type Variables = { readonly [name: string]: string };

/** The variables that the sandbox sets itself, and those that change interpreters, shells and the loader of programs. */
const RESERVED =
  /^(PATH|HOME|PWD|OLDPWD|TMPDIR|LANG|LC_.*|XDG_.*|LD_.*|PYTHON.*|NODE_.*|SANDBOX_.*|MPL.*|ENV|BASH_.*|SHELL|IFS|PS[0-4]|CDPATH|BASHOPTS|EUID|PPID|SHELLOPTS|UID)$/;

/** Shorter lines of a longer secret are not secret by themselves. */
const SHORTEST_LINE = 8;

export const variablesSchema: z.ZodType<Variables> = z.record(
  z
    .string()
    .regex(
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      "must be a name of letters, digits and _ that begins with no digit",
    )
    .refine((name) => !RESERVED.test(name), "is a variable that the sandbox sets itself"),
  z.string(),
);

/** Variables with their values, and what takes these out of texts. */
export interface OpenedEnvironment {
  values: Variables;
  redact: (text: string) => string;
}

/** The environment of code in the sandbox, whose secrets are looked up for each execution. */
export class Environment {
  readonly variables: Variables;
  readonly #url: string;
  readonly #dependencies: OutgoingDependencies;

  /**
   * @param url the address of the sandbox: secrets must be allowed for its host
   * @throws ValueError for a name that a program must not set
   */
  constructor(input: unknown, url: string, dependencies: OutgoingDependencies) {
    const { success, data, error } = variablesSchema.safeParse(input);
    if (!success) {
      const issues = error.issues.map((issue) => {
        const inner = issue.code === "invalid_key" ? issue.issues[0]?.message : undefined;
        return { path: ["env", ...issue.path].join("."), message: inner ?? issue.message };
      });
      const [first] = issues;
      throw new ValueError(`${first?.path} ${first?.message}`, { issues });
    }
    this.variables = data;
    this.#url = url;
    this.#dependencies = dependencies;
  }

  /** @throws SecretError for a secret that does not exist or may not be sent to the sandbox */
  open(): OpenedEnvironment {
    const secrets = new Secrets(this.#dependencies, this.#url, { env: this.variables });
    const values = Object.fromEntries(
      Object.entries(this.variables).map(([name, value]) => [name, secrets.resolve(value)]),
    );
    // A key in the PEM format is printed line by line, too.
    for (const value of Object.values(values)) {
      for (const line of value.split(/\r?\n/)) {
        if (line.length >= SHORTEST_LINE) secrets.remember(line);
      }
    }
    return { values, redact: (text) => secrets.redact(text) };
  }

  /** Remarks on secrets that this server does not have, or does not send to the sandbox. A program may set them later. */
  notes(): Note[] {
    if (this.#dependencies.secret === undefined) return [];
    return Object.entries(this.variables).flatMap(([name, value]) => {
      try {
        new Secrets(this.#dependencies, this.#url, {}).resolve(value);
        return [];
      } catch (error) {
        return [{ path: `config.env.${name}`, message: errorMessage(error) }];
      }
    });
  }
}

/** {@link Environment.notes} of a config; none for one that has no environment. */
export function environmentNotes(
  env: Variables | undefined,
  sandbox: SandboxAddress | undefined,
  dependencies: OutgoingDependencies,
): Note[] {
  if (env === undefined || sandbox === undefined) return [];
  return new Environment(env, sandbox.url, dependencies).notes();
}

/** The output of code without the values of its variables: line by line, because a value may arrive in pieces. */
export async function* redacted<Result>(
  output: AsyncGenerator<string, Result, void>,
  redact: (text: string) => string,
): AsyncGenerator<string, Result, void> {
  let line = "";
  for (;;) {
    const { done, value } = await output.next();
    if (done) {
      if (line !== "") yield redact(line);
      return value;
    }
    const end = value.lastIndexOf("\n") + 1;
    if (end > 0) {
      yield redact(line + value.slice(0, end));
      line = "";
    }
    line += value.slice(end);
  }
}
