import { join } from "node:path";
import { startJsonLines } from "../support/json-lines.ts";
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
  const lines = await startJsonLines(join(PEERS, program), args);
  const ask = <T>(command: Command): Promise<T> => lines.ask(command);
  return {
    name,
    durable,
    open: async (options) => {
      await ask({ open: options });
      return { turns: (count) => ask<Cost>({ turns: count }) };
    },
    [Symbol.asyncDispose]: () => lines[Symbol.asyncDispose](),
  };
}
