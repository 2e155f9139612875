import { invalid } from "../problem.ts";
import { pathProblem } from "../workspace-path.ts";
import { keyPattern, sessionPattern } from "./schemas.ts";

/**
 * The path of a request as the client sent it. A URL object has resolved `..` already, and so might speak about another thing
 * than the client wrote down.
 */
export class Target {
  /** The names between the slashes, still encoded. */
  readonly #names: readonly string[];

  /** @throws ProblemError 422 for a path that could be read in two ways */
  constructor(target: string) {
    const path = target.replace(/^https?:\/\/[^/]*/i, "").replace(/[?#].*$/s, "");
    this.#names = path.split("/").slice(1);
    for (const name of this.#names) {
      const decoded = decode(name);
      if (decoded === "." || decoded === ".." || decoded.includes("\\"))
        throw invalid("invalid_path", "The path has `.`, `..` or a backslash as a name.");
    }
  }

  /** `/v1/sessions/{session}`. */
  session(): string {
    const session = decode(this.#names[2] ?? "");
    if (sessionPattern.test(session)) return session;
    throw invalid("invalid_session", "This is no name of a session.", [
      { path: "session", message: "must be 1 to 128 letters, digits, - or _" },
    ]);
  }

  /** `/v1/sessions/{session}/executions/{key}`. */
  key(): string {
    const key = decode(this.#names[4] ?? "");
    if (keyPattern.test(key)) return key;
    throw invalid("invalid_key", "This is no key of an execution.", [
      { path: "key", message: "must be 1 to 255 visible ASCII characters" },
    ]);
  }

  /** `/v1/sessions/{session}/files/{path}`. */
  file(): string {
    const names = this.#names.slice(4).map(decode);
    const path = names.join("/");
    const problem = names.some((name) => name.includes("/"))
      ? "has a slash in a name"
      : pathProblem(path);
    if (problem === undefined) return path;
    throw invalid("invalid_path", "This is no path of a file.", [
      { path: "path", message: problem },
    ]);
  }
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw invalid("invalid_path", "The path is not encoded UTF-8.");
  }
}
