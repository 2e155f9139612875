/** An event for the operator, identified by ids only: never contents, never secrets. Unknown ids are null. */
export type LogEntry =
  | {
      event: "run_failed";
      team: string;
      run: string;
      /** Id of the run's trace. */
      trace: string;
      /** The innermost agent in which the error occurred. */
      agent: string | null;
      /** Number of the turn in the team's life. */
      turn: number | null;
      /** Path of the step that threw. */
      step: string | null;
      /** Type of the error. */
      class: string;
      code: string;
    }
  | {
      event: "run_recovered";
      team: string;
      run: string;
      trace: string;
      turn: number;
      /** Consecutive restarts without progress. */
      recoveries: number;
    }
  | {
      /** A task that a run has left at another service could not be cancelled in a day. */
      event: "remote_work_left";
      team: string;
      /** Id of the message that began it. */
      work: string;
      code: string;
    }
  | {
      event: "telemetry_dropped";
      team: string | null;
      /** Spans that did not reach the collector. */
      spans: number;
      reason: string;
    }
  | {
      /** An error of the service itself: a request was answered with 500, or a stream was aborted. */
      event: "internal_error";
      /** The error with its stack. */
      error: string;
    }
  | {
      /** Every request is answered with 503. */
      event: "settings_refused";
      error: string;
    }
  | {
      /** A variable that looks like a setting has no effect. */
      event: "setting_unknown";
      detail: string;
    }
  | {
      /** A team's tenant cannot be asked, so its limits refuse nothing. Logged for the first of several attempts in a row. */
      event: "limits_unchecked";
      team: string;
      error: string;
    }
  | {
      event: "request_refused";
      /** The request without path and query. */
      host: string;
      run: string | null;
      step: string | null;
      code: string;
    };

/** @param error the cause of the entry; only a log on the developer's own machine may show it */
export type Log = (entry: LogEntry, error?: unknown) => void;
