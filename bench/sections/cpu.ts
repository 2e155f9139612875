import { type PeerName, Peers } from "../conversation/all-peers.ts";
import type { Cost, Peer } from "../conversation/peer.ts";
import { startNode } from "../support/child.ts";
import { type Goal, type MeasureOptions, number, type Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { UPSTREAM } from "../support/streaming-team.ts";

const PEERS: readonly PeerName[] = [
  "openai",
  "teamInMemory",
  "aiSdk",
  "openaiAgents",
  "mastra",
  "langGraphInMemory",
  "team",
  "langGraph",
  "aiChatAgent",
];
/** The two whose ratio has a goal; the others are measured in every third round. */
const COMPARED = new Set<PeerName>(["openai", "teamInMemory"]);
const EVERY = 3;
/** A peer that has no whole replies. */
const STREAMS_ONLY = new Set<PeerName>(["aiChatAgent"]);

const HISTORIES = [20, 200, 1_000];
/** In a shorter conversation what Troupe adds to a whole reply is more than a tenth of the little that the SDK does. */
const LONG = 100;
const TURNS = 20;
const ROUNDS = 21;
/** Rounds until the compiler has settled. */
const WARM_UP = 6;
const WORDS = 60;

const SMOKE = { histories: [20], turns: 2, rounds: 1, warmUp: 0 };

type Size = typeof SMOKE;

/** CPU and time per turn of a conversation, in memory and durable, against the bare SDK. */
export async function measure({ smoke = false }: MeasureOptions = {}): Promise<Report> {
  const size: Size = smoke
    ? SMOKE
    : { histories: HISTORIES, turns: TURNS, rounds: ROUNDS, warmUp: WARM_UP };
  await using upstream = await startNode<{ url: string }>(UPSTREAM, []);
  await using peers = await Peers.start(PEERS, upstream.hello.url);
  const rows: Report["rows"][number][] = [];
  const goals: Goal[] = [];
  for (const stream of [false, true]) {
    const measured = new Map<PeerName, Cost[][]>();
    for (const history of size.histories) {
      const costs = await take([...peers], upstream.hello.url, stream, history, size);
      for (const [name, all] of costs) {
        measured.set(name, [...(measured.get(name) ?? []), all]);
      }
    }
    const sdk = measured.get("openai") ?? [];
    const each = (value: (history: number) => number): string =>
      size.histories.map((_, index) => number(value(index))).join(" / ");
    for (const [name, peer] of peers) {
      const own = measured.get(name);
      if (own === undefined) continue;
      const middle = (kind: keyof Cost) => (index: number) =>
        median((own[index] ?? []).map((cost) => cost[kind]));
      const ratio = (index: number): number => ratioOf(own[index] ?? [], sdk[index] ?? []);
      rows.push({
        reply: stream ? "streamed" : "whole",
        peer: peer.name,
        "ms of CPU per turn": each(middle("cpu")),
        "times the openai SDK": each(ratio),
        "ms per turn": each(middle("milliseconds")),
        "what a kill leaves": peer.durable,
      });
      if (name !== "teamInMemory") continue;
      for (const [index, history] of size.histories.entries()) {
        goals.push({
          what: `${stream ? "streamed" : "whole"} replies, ${number(history)} messages, in memory`,
          value: ratio(index),
          unit: "times the CPU of the SDK",
          limit: { atMost: history < LONG && !stream ? 1.5 : 1.15 },
        });
      }
    }
  }
  return {
    title: "CPU per turn of a conversation",
    method: `Conversations that have ${size.histories.map(number).join(" / ")} messages. The model sees all of them. Each peer is a process of its own, all of whose threads count; medians of rounds of ${size.turns} turns in which the peers take turns: ${size.rounds} of Troupe in memory and the SDK, after ${size.warmUp} to warm up, every third of them of the others. The model is a fake server in a process of its own; a reply has ${WORDS} words, streamed word by word. What is durable includes its storage, and what runs in workerd its HTTP.`,
    rows,
    goals,
  };
}

/** The median of the ratios of rounds in which both were measured. */
function ratioOf(costs: readonly Cost[], others: readonly Cost[]): number {
  const step = Math.max(1, Math.floor(others.length / costs.length));
  return median(costs.map(({ cpu }, index) => cpu / (others[index * step]?.cpu ?? 0)));
}

/** The costs of each peer, round by round. */
async function take(
  peers: readonly [PeerName, Peer][],
  baseURL: string,
  stream: boolean,
  history: number,
  { turns, rounds, warmUp }: Size,
): Promise<Map<PeerName, Cost[]>> {
  const costs = new Map<PeerName, Cost[]>();
  for (let round = -warmUp; round < rounds; round++) {
    // Which comes first changes, because the first of a round meets a colder machine.
    for (const [name, peer] of round % 2 === 0 ? peers : peers.toReversed()) {
      if (!stream && STREAMS_ONLY.has(name)) continue;
      if (!COMPARED.has(name) && round % EVERY !== 0) continue;
      const options = { baseURL, model: `words-${WORDS}`, stream, history, context: null };
      const conversation = await peer.open(options);
      await conversation.turns(1);
      const cost = await conversation.turns(turns);
      if (round >= 0) costs.set(name, [...(costs.get(name) ?? []), cost]);
    }
  }
  return costs;
}
