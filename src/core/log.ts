/** Something an operator has to know, by ids alone: never contents, never secrets. Ids that are not known are null. */
export type LogEntry =
  | {
      event: "run_failed";
      team: string;
      run: string;
      /** Id of the run's trace. */
      trace: string;
      /** The innermost agent that the error came from. */
      agent: string | null;
      /** Of the team's life. */
      turn: number | null;
      /** Path of the step that threw. */
      step: string | null;
      /** Of the error. */
      class: string;
      code: string;
    }
  | {
      event: "run_recovered";
      team: string;
      run: string;
      trace: string;
      turn: number;
      /** Restarts in a row without progress. */
      recoveries: number;
    }
  | {
      event: "telemetry_dropped";
      team: string | null;
      /** Spans that the collector did not get. */
      spans: number;
      reason: string;
    }
  | {
      /** Of the service itself: a request was answered with 500, or a stream was broken off. */
      event: "internal_error";
      /** With its stack. */
      error: string;
    }
  | {
      /** Every request is answered with 503. */
      event: "settings_refused";
      error: string;
    }
  | {
      event: "request_refused";
      /** What was asked, without path and query. */
      host: string;
      run: string | null;
      step: string | null;
      code: string;
    };

/** @param error what led to the entry; only a log on the developer's own machine may show it */
export type Log = (entry: LogEntry, error?: unknown) => void;
