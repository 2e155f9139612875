import type { BuildOptions } from "./built-worker.ts";
import { KillableWorker } from "./killable-worker.ts";
import { type Handlers, MiniflareWorker } from "./miniflare-worker.ts";

/** An e-mail that a Worker has sent. */
export interface SentMail {
  from: string;
  to: string;
  raw: string;
}

export interface TestWorkerOptions extends BuildOptions {
  /** What the runtime says of this is not shown: it is what the test does. */
  quietAbout?: string;
  /** Gets the lines of the Worker's log instead of the terminal. */
  logs?: (line: string) => void;
  /** Answers the outgoing requests of the Worker. Without it they go to the network. */
  outgoing?: (request: Request) => Response | Promise<Response>;
  /** The origin of what acts as Workers AI for the binding `AI`. Without it there is no such binding. */
  ai?: string;
  /** Where it listens; any free port without it. */
  port?: number;
  /** The directory of the objects' databases, which are otherwise removed with the Worker. */
  persistTo?: string;
  /** Whether it serves the console, as `console/public` has it. */
  console?: boolean;
  /** Whether it has the binding `MEMORY`. Default true. */
  memories?: boolean;
  /** Whether it has the binding `LOADER`. Default false. */
  loader?: boolean;
  /** Whether it has the binding `CONTAINERS`, to the class `StandInSandbox` of its entry. Default false. */
  containers?: boolean;
  /** Whether it has the binding `SEND_EMAIL`, and its handler for e-mail can be called: `POST /cdn-cgi/local/email`. */
  email?: boolean;
  /** Whether it has the binding `FILES`. */
  bucket?: boolean;
  /** Whether its handlers for queues and cron triggers can be called. */
  handlers?: boolean;
}

/** Bytes of a variable that Linux does not let into an environment, through which workerd gets the settings. */
const MOST_SETTING = 128 * 1024;

/**
 * The Worker as it is deployed, in a workerd of its own, open to local requests. Miniflare, whose start takes three times the
 * computing, runs it only where it needs what Miniflare has besides workerd.
 */
export class TestWorker implements AsyncDisposable {
  readonly #running: KillableWorker | MiniflareWorker;

  private constructor(running: KillableWorker | MiniflareWorker) {
    this.#running = running;
  }

  static async start(
    settings: Record<string, string> = {},
    options: TestWorkerOptions = {},
  ): Promise<TestWorker> {
    const { quietAbout, logs = toTerminal(quietAbout), ...own } = options;
    const { outgoing, ai, console, handlers, email, bucket, ...plain } = own;
    const large = Object.entries(settings).some(
      ([name, value]) => Buffer.byteLength(`${name}=${value}`) >= MOST_SETTING,
    );
    const needsMiniflare = outgoing ?? ai ?? (console || handlers || email || bucket || large);
    return new TestWorker(
      needsMiniflare
        ? await MiniflareWorker.start(settings, own, logs)
        : await KillableWorker.start(settings, { ...plain, logs }),
    );
  }

  /** Where it listens. */
  get origin(): Promise<string> {
    return Promise.resolve(this.#running.origin);
  }

  /** Sends a request over a real connection. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, this.#running.origin), init);
  }

  /** Calls the handlers for queues and cron triggers. */
  async handlers(): Promise<Handlers> {
    if (!(this.#running instanceof MiniflareWorker)) {
      throw new Error("a Worker that is started without `handlers` has only HTTP");
    }
    return this.#running.handlers();
  }

  /** The e-mails that it has sent. */
  async sentMails(): Promise<SentMail[]> {
    if (!(this.#running instanceof MiniflareWorker)) {
      throw new Error("a Worker that is started without `email` sends none");
    }
    return this.#running.sentMails();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#running[Symbol.asyncDispose]();
  }
}

function toTerminal(quietAbout: string | undefined): (line: string) => void {
  return (line) => {
    if (quietAbout === undefined || !line.includes(quietAbout)) process.stderr.write(`${line}\n`);
  };
}
