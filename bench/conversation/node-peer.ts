import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { end, endWithUs } from "../support/child.ts";
import type { Cost, Peer } from "./peer.ts";
import type { Command } from "./serve.ts";

const PEERS = join(import.meta.dirname, "../peers");

interface NodePeer {
  name: string;
  durable: string;
  /** The program; a relative path starts at `bench/peers`. */
  program: string;
  args?: readonly string[];
}

/** Starts a program that calls `serve`. */
export async function startNodePeer({
  name,
  durable,
  program,
  args = [],
}: NodePeer): Promise<Peer> {
  const child = endWithUs(
    spawn(process.execPath, [join(PEERS, program), ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${program} ended with ${String(child.exitCode)}`);
    return JSON.parse(value);
  };
  const send = (command: Command): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    return next();
  };
  await next();
  return {
    name,
    durable,
    open: async (options) => {
      await send({ open: options });
      return { turns: async (count) => (await send({ turns: count })) as Cost };
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}
