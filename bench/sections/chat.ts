import { type PeerName, Peers } from "../conversation/all-peers.ts";
import type { Conversation, ConversationOptions, Cost, Peer } from "../conversation/peer.ts";
import { startNode } from "../support/child.ts";
import { type Goal, type MeasureOptions, number, type Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { UPSTREAM } from "../support/streaming-team.ts";

const PEERS: readonly PeerName[] = [
  "team",
  "aiChatAgent",
  "aiChatAgentMethod",
  "langGraph",
  "bareObject",
];
/** Runs of one turn in a conversation. */
const RUNS = 200;
const ROUNDS = 5;
/** Rounds until the compilers of all peers have settled. */
const WARM_UP = 5;
/** Messages that the model sees. */
const CONTEXT = 20;
const TOKENS = 10;
/** How many runs a conversation has had, and how many are measured from there on, and in how many parts. */
const LENGTHS = [1, 100, 1_000, 10_000];
const WINDOW = 20;
const WINDOWS = 5;
/** Peers whose runs get longer with the conversation are not measured beyond. */
const PEERS_UNTIL = 1_000;

/** What the section looks like with few rounds, to see that it works. */
const SMOKE = { runs: 5, warmUp: 1, rounds: 1, lengths: [1, 10], window: 5 };

/** A conversation of many short runs. */
export async function measure({ smoke = false }: MeasureOptions = {}): Promise<Report> {
  const full = { runs: RUNS, warmUp: WARM_UP, rounds: ROUNDS, lengths: LENGTHS, window: WINDOW };
  const size = smoke ? SMOKE : full;
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  const { url } = upstream.hello;
  await using peers = await Peers.start(PEERS, url);
  const options: ConversationOptions = {
    baseURL: url,
    model: `burst-${TOKENS}`,
    stream: true,
    history: 0,
    context: CONTEXT,
  };
  const costs = new Map<PeerName, Cost[]>();
  for (let round = -size.warmUp; round < size.rounds; round++) {
    for (const [name, peer] of peers) {
      const cost = await (await peer.open(options)).turns(size.runs);
      if (round >= 0) costs.set(name, [...(costs.get(name) ?? []), cost]);
    }
  }
  const rows: Report["rows"][number][] = [];
  const goals: Goal[] = [];
  const speed = (name: PeerName): number | undefined => {
    const all = costs.get(name);
    return all && 1000 / median(all.map(({ milliseconds }) => milliseconds));
  };
  const own = speed("team") ?? 0;
  for (const [name, peer] of peers) {
    const longer = await byLength(peer, options, size, name === "team" || name === "bareObject");
    rows.push({
      peer: peer.name,
      "runs per second": speed(name) ?? 0,
      "Troupe against it": own / (speed(name) ?? 0),
      "CPU of its process, ms per run": median((costs.get(name) ?? []).map(({ cpu }) => cpu)),
      ...Object.fromEntries(
        size.lengths.map((length) => [`CPU after ${number(length)}`, longer.get(length) ?? ""]),
      ),
      "what a kill leaves": peer.durable,
    });
    if (name === "team") {
      const [first = 0, last = 0] = [size.lengths[1], size.lengths.at(-1)];
      goals.push({
        what: `CPU of a run after ${number(last)} runs`,
        value: (longer.get(last) ?? 0) / (longer.get(first) ?? 0),
        unit: `times that after ${first}`,
        limit: { atMost: 1.3 },
      });
    }
  }
  const chat = Math.max(speed("aiChatAgent") ?? 0, speed("aiChatAgentMethod") ?? 0);
  if (chat > 0) {
    goals.unshift({
      what: "runs per second of a chat",
      value: own / chat,
      unit: "times AIChatAgent, the faster of the two ways",
      limit: { atLeast: 2.5 },
    });
  }
  return {
    title: "A chat",
    method: `${size.runs} runs of one turn in one conversation, one after the other; the median of ${size.rounds} rounds in which the peers take turns, after ${size.warmUp} to warm up. The model is a fake server in a process of its own that streams ${TOKENS} tokens; it sees the last ${CONTEXT} messages. Troupe is asked over HTTP and streams, AIChatAgent is asked over a WebSocket with all messages, as its hook \`useAgentChat\` does, or over HTTP with the new one by \`saveMessages\`; LangGraph is called in its own process, without a network, and uses its SqliteSaver over node:sqlite. The CPU at a length is the median of ${WINDOWS} times the next ${size.window} runs.`,
    rows,
    goals,
  };
}

/** The CPU of a run after a number of runs, in milliseconds. */
async function byLength(
  peer: Peer,
  options: ConversationOptions,
  { lengths, window }: { lengths: readonly number[]; window: number },
  far: boolean,
): Promise<Map<number, number>> {
  const conversation: Conversation = await peer.open(options);
  const costs = new Map<number, number>();
  let runs = 0;
  for (const length of lengths) {
    if (!far && length > PEERS_UNTIL) break;
    await conversation.turns(length - runs);
    const parts: number[] = [];
    for (let part = 0; part < WINDOWS; part++) parts.push((await conversation.turns(window)).cpu);
    costs.set(length, median(parts));
    runs = length + WINDOWS * window;
  }
  return costs;
}
