import type { ProblemError } from "../problem.ts";
import type { Isolation } from "../runner.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Settings } from "../settings.ts";

/** What routes work with. */
export interface Services {
  sessions: Sessions;
  isolation: Isolation;
  settings: Settings;
  /** What a failure means to the client; our own are logged. */
  problemOf: (error: unknown) => ProblemError;
}
