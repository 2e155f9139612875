import { lazy, Suspense } from "react";
import { Route, Switch } from "wouter";
import { TeamPage } from "../team/team-page.tsx";
import { Needs } from "./access.tsx";
import { NoPage } from "./no-page.tsx";

const FilesPage = lazy(async () => ({
  default: (await import("../files/files-page.tsx")).FilesPage,
}));
const SchedulesPage = lazy(async () => ({
  default: (await import("../schedules/schedules-page.tsx")).SchedulesPage,
}));
const TriggersPage = lazy(async () => ({
  default: (await import("../triggers/triggers-page.tsx")).TriggersPage,
}));
const RunsPage = lazy(async () => ({ default: (await import("../runs/runs-page.tsx")).RunsPage }));
const VersionsPage = lazy(async () => ({
  default: (await import("../versions/versions-page.tsx")).VersionsPage,
}));
const ApiPage = lazy(async () => ({ default: (await import("../team-api/api-page.tsx")).ApiPage }));

/** The tab of a team that the address names. */
export function TeamTab({ teamId }: { teamId: string }) {
  return (
    <Suspense fallback={<p className="loading" role="status" aria-label="Loading" />}>
      <Switch>
        <Route path="/teams/:id" component={TeamPage} />
        <Route path="/teams/:id/files">
          <Needs scopes={["teams:read"]}>
            <FilesPage />
          </Needs>
        </Route>
        <Route path="/teams/:id/schedules">
          <Needs scopes={["runs:read"]}>
            <SchedulesPage />
          </Needs>
        </Route>
        <Route path="/teams/:id/triggers">
          <Needs scopes={["teams:read"]}>
            <TriggersPage />
          </Needs>
        </Route>
        <Route path="/teams/:id/runs">
          <Needs scopes={["runs:read"]}>
            <RunsPage teamId={teamId} />
          </Needs>
        </Route>
        <Route path="/teams/:id/versions">
          <Needs scopes={["teams:read"]}>
            <VersionsPage />
          </Needs>
        </Route>
        <Route path="/teams/:id/api" component={ApiPage} />
        <Route component={NoPage} />
      </Switch>
    </Suspense>
  );
}
