import { useMay } from "../shell/access.tsx";
import { TeamList } from "../teams/teams-page.tsx";
import { useTitle } from "../shell/title.ts";
import { Overview } from "./overview.tsx";

/** The first page: what waits, runs and failed, and the teams. */
export function HomePage() {
  useTitle("Home");
  const mayRuns = useMay("runs:read");
  return (
    <TeamList title={<h2 className="list-title">Teams</h2>}>
      <h1>Home</h1>
      {mayRuns && <Overview />}
    </TeamList>
  );
}
