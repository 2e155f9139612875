import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAIChatAgent } from "./ai-chat-agent.ts";
import { startBareObject } from "./bare-object.ts";
import { startDurableTeam } from "./durable-team.ts";
import { startNodePeer } from "./node-peer.ts";
import type { Peer } from "./peer.ts";

/** Whether `npm install --prefix bench/peers` has been run. Without it, only what the project depends on is measured. */
export const PEERS_INSTALLED = existsSync(join(import.meta.dirname, "../peers/node_modules"));

/** Starts a peer, given the model server's URL. */
type Start = (upstream: string) => Promise<Peer>;

const NOTHING = "nothing";

const OWN = {
  team: () => startDurableTeam(),
  teamInMemory: () =>
    startNodePeer({
      name: "Troupe, a team in memory",
      durable: NOTHING,
      program: "../conversation/team-in-memory.ts",
    }),
  openai: () =>
    startNodePeer({
      name: "openai SDK",
      durable: NOTHING,
      program: "../conversation/openai-sdk.ts",
    }),
  bareObject: startBareObject,
} satisfies Record<string, Start>;

const OTHERS = {
  aiChatAgent: (upstream) => startAIChatAgent(upstream, "useAgentChat"),
  aiChatAgentMethod: (upstream) => startAIChatAgent(upstream, "saveMessages"),
  langGraph: startLangGraph,
  langGraphInMemory: () =>
    startNodePeer({
      name: "LangGraph, MemorySaver",
      durable: NOTHING,
      program: "langgraph.ts",
    }),
  aiSdk: () => startNodePeer({ name: "AI SDK", durable: NOTHING, program: "ai-sdk.ts" }),
  openaiAgents: () =>
    startNodePeer({
      name: "OpenAI Agents SDK",
      durable: NOTHING,
      program: "openai-agents.ts",
    }),
  mastra: () => startNodePeer({ name: "Mastra, an agent", durable: NOTHING, program: "mastra.ts" }),
} satisfies Record<string, Start>;

export type PeerName = keyof typeof OWN | keyof typeof OTHERS;

/** Those of `names` that are installed, started. */
export class Peers implements AsyncDisposable {
  readonly #peers = new Map<PeerName, Peer>();
  readonly #stack = new AsyncDisposableStack();

  static async start(names: readonly PeerName[], upstream: string): Promise<Peers> {
    const peers = new Peers();
    const installed: Partial<Record<PeerName, Start>> = PEERS_INSTALLED
      ? { ...OWN, ...OTHERS }
      : OWN;
    for (const name of names) {
      const peer = await installed[name]?.(upstream);
      if (peer !== undefined) peers.#peers.set(name, peers.#stack.use(peer));
    }
    return peers;
  }

  [Symbol.iterator](): Iterator<[PeerName, Peer]> {
    return this.#peers.entries();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

async function startLangGraph(): Promise<Peer> {
  const directory = mkdtempSync(join(tmpdir(), "troupe-bench-langgraph-"));
  const peer = await startNodePeer({
    name: "LangGraph, SqliteSaver",
    durable: "the messages; a turn under way can be resumed by the program",
    program: "langgraph.ts",
    args: [join(directory, "checkpoints.sqlite")],
  });
  return {
    ...peer,
    [Symbol.asyncDispose]: async () => {
      await peer[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
