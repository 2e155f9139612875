import type { WhoAmI } from "troupe/client";
import { useLocation } from "wouter";
import type { IconName } from "../parts/icon.tsx";
import { pagesOf } from "./first-page.ts";

export interface Destination {
  href: string;
  icon: IconName;
  name: string;
  current: boolean;
}

/** The places of the navigation that a credential may see, the most used first. */
export function usePlaces(whoami: WhoAmI): Destination[] {
  const [path] = useLocation();
  const pages = pagesOf(whoami);
  const place = (
    href: string,
    icon: IconName,
    name: string,
    pattern = `^${href}(/|$)`,
  ): Destination => ({
    href,
    icon,
    name,
    current: new RegExp(pattern).test(path),
  });
  const team = whoami.team_id;
  const onTeams = "^/(new-team$|teams($|/(?!.*/runs/)))";
  return [
    ...(pages.teams ? [place("/", "home", "Home", "^/$")] : []),
    ...(pages.teams ? [place("/teams", "people", "Teams", onTeams)] : []),
    ...(team === null ? [] : [place(`/teams/${team}`, "people", "Team", onTeams)]),
    ...(pages.inbox ? [place("/inbox", "inbox", "Inbox")] : []),
    ...(pages.runs
      ? [place("/runs", "runs", "Runs", "^/(runs|runs/failures|teams/[^/]+/runs/.*)$")]
      : []),
    ...(pages.usage ? [place("/usage", "chart", "Usage")] : []),
    ...(pages.memory ? [place("/memory", "book", "Memory")] : []),
    ...(pages.webhooks ? [place("/webhooks", "hook", "Webhooks")] : []),
    ...(pages.connections ? [place("/connections", "plug", "Connections")] : []),
    ...(pages.keys ? [place("/keys", "key", "Keys")] : []),
  ];
}
