import type { HumanRequest, Message, TeamState } from "troupe/client";
import { outsideId, type Picture } from "./picture.ts";
import type { PictureProgress } from "./progress.ts";

/** The current activity of the nodes. */
export interface Activity {
  running: ReadonlySet<string>;
  /** The nodes that wait for a human. */
  waiting: ReadonlySet<string>;
}

interface Now extends Pick<TeamState, "status" | "texts"> {
  requests: readonly Pick<HumanRequest, "source">[];
  messages: readonly Message[];
}

const NOBODY: ReadonlySet<string> = new Set();

/** The nodes at work: those that write, those of the last event, and otherwise those that are next. */
export function activityIn(picture: Picture, progress: PictureProgress, now: Now): Activity {
  const { owners } = picture;
  const { status, texts, requests, messages } = now;
  if (status !== "running" && status !== "waiting" && status !== "paused") {
    return { running: NOBODY, waiting: NOBODY };
  }
  const nodes = (sources: readonly string[]): Set<string> =>
    new Set(sources.map((source) => owners.get(source)).filter((node) => node !== undefined));
  const waiting = nodes(requests.map(({ source }) => source));
  const writing = nodes(texts.map(({ source }) => source));
  const running = picture.kind === "graph" ? new Set([...progress.next, ...writing]) : writing;
  if (running.size === 0) {
    const last = messages.at(-1);
    const busy = last?.type.endsWith("Event") && last.type !== "SelectSpeakerEvent";
    const owner = busy ? owners.get(last?.source ?? "") : undefined;
    for (const node of owner === undefined ? progress.next : [owner]) running.add(node);
  }
  for (const node of running) {
    if (waiting.has(node) || node.startsWith(outsideId(""))) running.delete(node);
  }
  return { running: status === "paused" ? NOBODY : running, waiting };
}
