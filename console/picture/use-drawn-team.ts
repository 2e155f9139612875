import { useMemo } from "react";
import type { Message } from "troupe/client";
import type { TeamView } from "troupe/react";
import { type Layout, layoutOf } from "../drawing/layout.ts";
import { type Activity, activityIn } from "./activity.ts";
import type { UncheckedComponent } from "./component-json.ts";
import { type Picture, pictureOf, withEdges } from "./picture.ts";
import { type PictureProgress, progressOf } from "./progress.ts";

export const MOST_NODES = 250;
export const MOST_EDGES = 1_000;

/** The present activity in the team. */
export type Happening = Pick<TeamView, "status" | "texts" | "requests">;

export interface DrawnTeam {
  picture: Picture;
  /** Undefined if it is too large to be drawn. */
  layout: Layout | undefined;
  progress: PictureProgress;
  activity: Activity;
}

/** A team as nodes and edges with their places, and the progress of its last run. */
export function useDrawnTeam(
  component: UncheckedComponent,
  messages: readonly Message[],
  now: Happening,
): DrawnTeam {
  const named = useMemo(() => pictureOf(component), [component]);
  const { unnamed } = useMemo(() => progressOf(named, messages), [named, messages]);
  // The layout changes only with new edges, not when an edge is taken.
  const ways = JSON.stringify(unnamed);
  const picture = useMemo(
    () => withEdges(named, JSON.parse(ways) as [string, string][]),
    [named, ways],
  );
  // Without a run, not even the first edge was taken.
  const ran = messages.length > 0 || now.status !== "idle";
  const progress = useMemo(() => {
    const all = progressOf(picture, messages);
    return ran ? all : { ...all, taken: new Map<string, number>() };
  }, [picture, messages, ran]);
  const large = picture.nodes.length > MOST_NODES || picture.edges.length > MOST_EDGES;
  const layout = useMemo(() => (large ? undefined : layoutOf(picture)), [picture, large]);
  return {
    picture,
    layout,
    progress,
    activity: activityIn(picture, progress, { ...now, messages }),
  };
}
