import type { ProblemError } from "../problem.ts";
import type { Isolation } from "../runner.ts";
import type { Programs } from "../sessions/programs.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Settings } from "../settings.ts";

/** Dependencies of the routes. */
export interface Services {
  sessions: Sessions;
  isolation: Isolation;
  /** What runs programs; undefined where they cannot run. */
  programIsolation: Isolation | undefined;
  programs: Programs;
  settings: Settings;
  /** Converts an error to a problem for the client, and logs internal errors. */
  problemOf: (error: unknown) => ProblemError;
}
