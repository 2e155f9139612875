/** A response to a client. */
export interface AnsweredRequest {
  method: string;
  /** With the query. */
  url: string;
  /** Undefined if the connection closed before. */
  status: number | undefined;
  ms: number;
}

/** Gets what a server reports while it runs. */
export interface ServerLog {
  line: (level: "info" | "warn" | "error", text: string) => void;
  request: (answered: AnsweredRequest) => void;
}

/** Lines for a terminal. */
export const textLog: ServerLog = {
  line: (level, text) => (level === "info" ? console.log(text) : console.error(text)),
  request: ({ method, url, status, ms }) =>
    console.log(`${method} ${url} ${status ?? "no answer"} (${ms} ms)`),
};
