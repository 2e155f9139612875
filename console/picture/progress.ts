import type { Message } from "troupe/client";
import { MANAGER, outsideId, type Picture, type PictureEdge, TASK } from "./picture.ts";

/** The progress of a run in the picture, from the run's messages. */
export interface PictureProgress {
  /** The number of times that each edge was taken. */
  taken: ReadonlyMap<string, number>;
  /** The number of times that each node spoke. */
  spoken: ReadonlyMap<string, number>;
  /** The edges by which the nodes that are next were reached. */
  latest: ReadonlySet<string>;
  /** The node that spoke last. */
  last: string | undefined;
  /** The nodes that are next, as far as the messages show. */
  next: ReadonlySet<string>;
  /** Edges that were taken although the component does not name them. */
  unnamed: readonly (readonly [string, string])[];
}

interface Speech {
  node: string;
  message: Message;
}

/** @param messages those of one run, without its task, oldest first */
export function progressOf(picture: Picture, messages: readonly Message[]): PictureProgress {
  const log = new Log(picture);
  const speeches = speechesIn(picture, messages);
  for (const { node } of speeches) log.spoke(node);
  switch (picture.kind) {
    case "graph":
      followGraph(picture, speeches, log);
      break;
    case "swarm":
      followHandoffs(picture, speeches, log);
      break;
    case "selector":
    case "orchestrator":
      followManager(speeches, messages, picture, log);
      break;
    case "ring":
    case "other":
      followOrder(picture, speeches, log);
  }
  return log.progress();
}

/** Collects the edges that were taken. */
class Log {
  readonly #edges: ReadonlyMap<string, PictureEdge>;
  readonly #taken = new Map<string, number>();
  readonly #spoken = new Map<string, number>();
  readonly #into = new Map<string, Set<string>>();
  readonly #unnamed = new Map<string, readonly [string, string]>();
  #last: string | undefined;
  next: ReadonlySet<string> = new Set();

  constructor({ edges }: Picture) {
    this.#edges = new Map(edges.map((edge) => [pair(edge.from, edge.to), edge]));
  }

  spoke(node: string): void {
    this.#spoken.set(node, (this.#spoken.get(node) ?? 0) + 1);
    this.#last = node;
  }

  take({ id, to }: PictureEdge): void {
    this.#taken.set(id, (this.#taken.get(id) ?? 0) + 1);
    const into = this.#into.get(to) ?? new Set();
    this.#into.set(to, into.add(id));
  }

  /** The target is about to speak. Edges that lead to it afterwards belong to its next time. */
  entered(node: string): void {
    this.#into.delete(node);
  }

  go(from: string, to: string): void {
    const existing = this.#edges.get(pair(from, to));
    if (existing !== undefined) this.take(existing);
    else this.#unnamed.set(pair(from, to), [from, to]);
  }

  progress(): PictureProgress {
    const latest = [...this.next].flatMap((node) => [...(this.#into.get(node) ?? [])]);
    return {
      taken: this.#taken,
      spoken: this.#spoken,
      latest: new Set(latest),
      last: this.#last,
      next: this.next,
      unnamed: [...this.#unnamed.values()],
    };
  }
}

function pair(from: string, to: string): string {
  return JSON.stringify([from, to]);
}

/** The speakers in order. Consecutive messages of an inner team count as one. */
function speechesIn({ nodes, owners }: Picture, messages: readonly Message[]): Speech[] {
  const teams = new Set(nodes.filter(({ inner }) => inner !== undefined).map(({ id }) => id));
  const speeches: Speech[] = [];
  for (const message of messages) {
    const node = owners.get(message.source);
    if (node === undefined || message.type.endsWith("Event")) continue;
    const last = speeches.at(-1);
    if (last?.node === node && teams.has(node)) last.message = message;
    else speeches.push({ node, message });
  }
  return speeches;
}

function followOrder({ kind, nodes }: Picture, speeches: readonly Speech[], log: Log): void {
  let last: string | undefined;
  for (const { node } of speeches) {
    if (last !== undefined && last !== node) log.go(last, node);
    last = node;
  }
  if (kind !== "ring" || last === undefined) return;
  const position = nodes.findIndex(({ id }) => id === last);
  const next = nodes[(position + 1) % nodes.length];
  if (next !== undefined) log.next = new Set([next.id]);
}

function followHandoffs({ owners, starts }: Picture, speeches: readonly Speech[], log: Log): void {
  let [current = ""] = starts;
  for (const [index, { node, message }] of speeches.entries()) {
    if (index === 0) log.go(TASK, node);
    current = node;
    if (message.type !== "HandoffMessage") continue;
    current = owners.get(message.target) ?? outsideId(message.target);
    log.go(node, current);
  }
  log.next = new Set([current]);
}

function followManager(
  speeches: readonly Speech[],
  messages: readonly Message[],
  { owners }: Picture,
  log: Log,
): void {
  for (const { node } of speeches) if (node !== MANAGER) log.go(MANAGER, node);
  const last = messages.findLast(({ type }) => type !== "ModelClientStreamingChunkEvent");
  const selected = last?.type === "SelectSpeakerEvent" ? last.content : [];
  const next = selected.map((name) => owners.get(name)).filter((node) => node !== undefined);
  log.next = new Set(next.length > 0 ? next : [MANAGER]);
}

/** Walks the graph as its team does: a node is ready when all edges of a group were taken, or one where that is enough. */
function followGraph({ edges, starts }: Picture, speeches: readonly Speech[], log: Log): void {
  const leaving = new Map<string, PictureEdge[]>();
  const sizes = new Map<string, number>();
  for (const edge of edges) {
    leaving.set(edge.from, [...(leaving.get(edge.from) ?? []), edge]);
    const key = pair(edge.to, edge.group);
    sizes.set(key, (sizes.get(key) ?? 0) + 1);
  }
  const counts = new Map<string, number>();
  let ready = new Set<string>();
  /** Edges that only the server decides on. They are open until their target speaks. */
  let open: PictureEdge[] = [];
  const begin = (): void => {
    for (const edge of leaving.get(TASK) ?? []) log.take(edge);
    ready = new Set(starts);
  };
  const arrive = (edge: PictureEdge): void => {
    log.take(edge);
    const key = pair(edge.to, edge.group);
    const count = (counts.get(key) ?? 0) + 1;
    const complete = count >= (edge.any ? 1 : (sizes.get(key) ?? 1));
    counts.set(key, complete ? 0 : count);
    if (complete) ready.add(edge.to);
  };
  const [first] = speeches;
  // A run may continue where another one was stopped.
  if (first === undefined || starts.includes(first.node)) begin();
  for (const { node, message } of speeches) {
    if (!ready.has(node)) {
      for (const edge of open.filter(({ to }) => to === node)) arrive(edge);
      open = open.filter(({ to }) => to !== node);
    }
    if (ready.size === 0 && starts.includes(node)) begin();
    if (!ready.has(node)) ready.clear();
    ready.delete(node);
    log.entered(node);
    const text = textIn(message);
    for (const edge of leaving.get(node) ?? []) {
      if (edge.decidedBy !== "") open.push(edge);
      else if (text.includes(edge.condition)) arrive(edge);
    }
  }
  log.next = ready;
}

function textIn(message: Message): string {
  const { content } = message as { content?: unknown };
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.filter((part) => typeof part === "string").join(" ");
  return JSON.stringify(content) ?? "";
}

/** `once`, `3 times`. */
export function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
