import type { ServerLog } from "./process/log.ts";
import type { State } from "./state/state.ts";

/** The name of the Unix socket that the Worker listens on, in the directory of the sockets. Miniflare's name for it. */
export const ENTRY_SOCKET = "entry";

/** A report of a runtime about its Worker. */
export type RuntimeMessage = "loading" | "loaded" | "crashed";

/** A Worker that a server started. */
export interface Runtime {
  /** Keeps it running from now on, and shows its output. */
  supervise: () => void;
  /** Shows its output so far, and all output that follows. */
  showHeldOutput: () => void;
  stop: (signal: "SIGTERM" | "SIGKILL") => void;
  readonly lives: boolean;
  /** Removes the files that it needed while it ran. */
  clean: () => void;
}

/** The part of a server that its runtime uses. */
export interface RuntimeStart {
  /** The directory of its Unix sockets, which no other user can open. */
  sockets: string;
  state: State;
  log: ServerLog;
  /** Variables of the Worker. */
  vars: Readonly<Record<string, string>>;
  sandbox: { readonly url: string; readonly key: string } | undefined;
  /** The address of the server. */
  url: string;
  onMessage: (message: RuntimeMessage) => void;
  /** Called when it has ended and is not restarted. */
  onEnd: (why: string, code: number) => void;
}
