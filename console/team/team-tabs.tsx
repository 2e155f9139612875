import { Link } from "wouter";
import { useMay } from "../shell/access.tsx";

export type TeamTab = "conversation" | "picture" | "files" | "schedules" | "runs" | "api";

const NAMES: Readonly<Record<TeamTab, string>> = {
  conversation: "Conversation",
  picture: "Picture",
  files: "Files",
  schedules: "Schedules",
  runs: "Runs",
  api: "API",
};

/** The pages of a team. */
export function TeamTabs({ teamId, current }: { teamId: string; current: TeamTab }) {
  const mayTeams = useMay("teams:read");
  const mayRuns = useMay("runs:read");
  const may: Readonly<Record<TeamTab, boolean>> = {
    conversation: mayTeams,
    picture: mayTeams,
    files: mayTeams,
    schedules: mayRuns,
    runs: mayRuns,
    api: true,
  };
  const tabs = (Object.keys(NAMES) as TeamTab[]).filter((tab) => may[tab]);
  return (
    <nav className="segments team-tabs" aria-label="Team">
      {tabs.map((tab) => (
        <Link
          key={tab}
          href={addressOf(teamId, tab)}
          aria-current={tab === current ? "page" : undefined}
        >
          {NAMES[tab]}
        </Link>
      ))}
    </nav>
  );
}

function addressOf(teamId: string, tab: TeamTab): string {
  const team = `/teams/${teamId}`;
  if (tab === "conversation") return team;
  return tab === "picture" ? `${team}?view=picture` : `${team}/${tab}`;
}
