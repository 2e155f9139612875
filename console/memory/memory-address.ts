import type { Memory } from "troupe/client";

/** The owner of the memories on a page, as its address names it. */
export interface MemoryAddress {
  scope: Memory["scope"];
  /** With the scope team; empty if none is chosen. */
  team: string;
  /** With the scope user; empty if none is named. */
  user: string;
}

/** @param own the only user that the credential stands for */
export function placeIn(parameters: URLSearchParams, own: string | null): MemoryAddress {
  const scope = parameters.get("scope");
  return {
    scope: scope === "team" || scope === "user" ? scope : "tenant",
    team: scope === "team" ? (parameters.get("team") ?? "") : "",
    user: scope === "user" ? (own ?? parameters.get("user") ?? "") : "",
  };
}

/** The parameters of a request; undefined while the team or the user is missing. */
export function queryOf({
  scope,
  team,
  user,
}: MemoryAddress): { scope: Memory["scope"]; team?: string; user?: string } | undefined {
  if (scope === "tenant") return { scope };
  if (scope === "team") return team === "" ? undefined : { scope, team };
  return user === "" ? undefined : { scope, user };
}

/** The content as a person reads and corrects it. */
export function textOf({ content }: Pick<Memory, "content">): string {
  return typeof content === "string" ? content : JSON.stringify(content, null, 2);
}
