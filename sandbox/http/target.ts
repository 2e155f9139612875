import { invalid } from "../problem.ts";
import { pathProblem } from "../workspace-path.ts";
import { keyPattern, sessionPattern } from "./schemas.ts";

/**
 * The path of a request as the client sent it. A URL object would have resolved `..` already, to a path that the client did
 * not mean.
 */
export class Target {
  /** The segments, still encoded. */
  readonly #names: readonly string[];

  /** @throws ProblemError 422 for an ambiguous path */
  constructor(target: string) {
    const [path = ""] = target.replace(/^https?:\/\/[^/]*/i, "").split(/[?#]/, 1);
    this.#names = path.split("/").slice(1);
    for (const name of this.#names) {
      const decoded = decode(name);
      if (decoded === "." || decoded === ".." || decoded.includes("\\"))
        throw invalid("invalid_path", "The path has a `.` or `..` segment or a backslash.");
    }
  }

  /** `/v1/sessions/{session}`. */
  session(): string {
    const session = decode(this.#names[2] ?? "");
    if (sessionPattern.test(session)) return session;
    throw invalid("invalid_session", "The name of the session is invalid.", [
      { path: "session", message: "must be 1 to 128 letters, digits, - or _" },
    ]);
  }

  /** `/v1/sessions/{session}/executions/{key}`. */
  key(): string {
    const key = decode(this.#names[4] ?? "");
    if (keyPattern.test(key)) return key;
    throw invalid("invalid_key", "The key of the execution is invalid.", [
      { path: "key", message: "must be 1 to 255 visible ASCII characters" },
    ]);
  }

  /** `/v1/sessions/{session}/mcp/{program}`. */
  program(): string {
    return decode(this.#names[4] ?? "");
  }

  /** `/v1/sessions/{session}/files/{path}`. */
  file(): string {
    const names = this.#names.slice(4).map(decode);
    const path = names.join("/");
    const problem = names.some((name) => name.includes("/"))
      ? "has an encoded slash"
      : pathProblem(path);
    if (problem === undefined) return path;
    throw invalid("invalid_path", "The path of the file is invalid.", [
      { path: "path", message: problem },
    ]);
  }
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw invalid("invalid_path", "The path is not percent-encoded UTF-8.");
  }
}
