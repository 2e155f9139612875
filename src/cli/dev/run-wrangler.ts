// The program of wrangler without its proxy, its inspector and its ports: requests go from the front server to the Worker
// directly, over a Unix socket. Arguments: the file of wrangler's program, then those of wrangler.

import Module from "node:module";
import type { RuntimeMessage } from "../server/runtime.ts";
import { listenPrivately, others, type PrivatePortsOptions } from "./private-ports.ts";

/** The messages from wrangler to its proxy. */
interface Proxy {
  ready: { promise: Promise<{ url: URL }>; reject: (error: Error) => void };
  onConfigUpdate: () => void;
  onBundleStart: () => void;
  onReloadStart: () => void;
  onReloadComplete: () => void;
  teardown: () => Promise<void>;
}

interface DevEnvOptions {
  proxyFactory?: () => Proxy;
}

interface DevEnvInput {
  dev?: { registry?: string };
}

interface DevEnv {
  config: { set: (input: DevEnvInput, throws?: boolean) => Promise<unknown> };
}

type Wrangler = { unstable_DevEnv?: new (options?: DevEnvOptions) => DevEnv };

function tellParent(message: RuntimeMessage): void {
  process.send?.(message);
}

function proxy(): Proxy {
  const { promise, resolve, reject } = Promise.withResolvers<{ url: URL }>();
  promise.catch(() => undefined);
  return {
    ready: { promise, reject },
    onConfigUpdate: () => undefined,
    onBundleStart: () => undefined,
    onReloadStart: () => tellParent("loading"),
    onReloadComplete: () => {
      tellParent("loaded");
      resolve({ url: new URL("http://127.0.0.1/") });
    },
    teardown: async () => undefined,
  };
}

function withoutPorts(DevEnv: NonNullable<Wrangler["unstable_DevEnv"]>): typeof DevEnv {
  return class extends DevEnv {
    constructor(options: DevEnvOptions = {}) {
      super({ proxyFactory: proxy, ...options });
      others.allowed = true;
      const set = this.config.set.bind(this.config);
      this.config.set = (input, throws) => {
        // For Workers of other programs on this machine, workerd would open a port with access to all of them.
        const { registry, ...dev } = input.dev ?? {};
        const shared = process.env.WRANGLER_REGISTRY_PATH ? { registry } : {};
        return set({ ...input, dev: { ...dev, ...shared } }, throws);
      };
    }
  };
}

const [node = "", , program = "", ...args] = process.argv;
const ports = JSON.parse(process.env.TROUPE_SOCKETS ?? "") as PrivatePortsOptions;
listenPrivately(ports, () => tellParent("crashed"));
delete process.env.TROUPE_SOCKETS;
process.argv = [node, program, ...args];
// Loaded as Node loads a main program. The program starts here and creates its DevEnv later.
const { _load } = Module as unknown as {
  _load: (file: string, parent: null, isMain: boolean) => Wrangler;
};
const wrangler = _load(program, null, true);
if (wrangler.unstable_DevEnv === undefined) {
  console.error(
    "ERROR: this version of wrangler is not supported. Install the one that `npx troupe init` names.",
  );
  process.exit(1);
}
wrangler.unstable_DevEnv = withoutPorts(wrangler.unstable_DevEnv);
