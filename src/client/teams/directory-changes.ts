import type { EventSourceMessage } from "eventsource-parser";
import type { ListedRequest, ListedRun, ListedTeam } from "../http/wire.ts";

/** A change in the lists over all teams. */
export type DirectoryChange =
  | { kind: "team"; team: ListedTeam }
  | { kind: "team_deleted"; id: string }
  | { kind: "run"; run: ListedRun }
  | { kind: "request"; request: ListedRequest }
  /** It was answered, it expired, or its run ended. */
  | { kind: "request_closed"; id: string; team_id: string };

/** The change of a frame; undefined for a frame of a later version. */
export function directoryChange({
  event,
  data,
}: Pick<EventSourceMessage, "event" | "data">): DirectoryChange | undefined {
  const value: unknown = JSON.parse(data);
  switch (event) {
    case "team":
      return { kind: "team", team: value as ListedTeam };
    case "team_deleted":
      return { kind: "team_deleted", ...(value as { id: string }) };
    case "run":
      return { kind: "run", run: value as ListedRun };
    case "request":
      return { kind: "request", request: value as ListedRequest };
    case "request_closed":
      return { kind: "request_closed", ...(value as { id: string; team_id: string }) };
    default:
      return undefined;
  }
}
