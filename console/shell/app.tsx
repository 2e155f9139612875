import { lazy, Suspense, useEffect } from "react";
import { useInbox } from "troupe/react";
import { Link, Route, Switch } from "wouter";
import { InboxPage } from "../requests/inbox-page.tsx";
import { TeamPage } from "../team/team-page.tsx";
import { TeamsPage } from "../teams/teams-page.tsx";
import { Access, Needs } from "./access.tsx";
import { type CallerProps, Navigation } from "./navigation.tsx";
import { Notices } from "./notices.tsx";

const RunsPage = lazy(async () => ({ default: (await import("../runs/runs-page.tsx")).RunsPage }));
const RunPage = lazy(async () => ({ default: (await import("../runs/run-page.tsx")).RunPage }));
const UsagePage = lazy(async () => ({
  default: (await import("../usage/usage-page.tsx")).UsagePage,
}));
const ComparePage = lazy(async () => ({
  default: (await import("../compare/compare-page.tsx")).ComparePage,
}));
const FilesPage = lazy(async () => ({
  default: (await import("../files/files-page.tsx")).FilesPage,
}));
const SchedulesPage = lazy(async () => ({
  default: (await import("../schedules/schedules-page.tsx")).SchedulesPage,
}));
const WebhooksPage = lazy(async () => ({
  default: (await import("../webhooks/webhooks-page.tsx")).WebhooksPage,
}));
const DeliveriesPage = lazy(async () => ({
  default: (await import("../webhooks/deliveries-page.tsx")).DeliveriesPage,
}));
const KeysPage = lazy(async () => ({ default: (await import("../keys/keys-page.tsx")).KeysPage }));

export function App({ whoami, onLeave }: CallerProps) {
  const { requests, hasMore } = useInbox();
  const open = requests.length;
  useEffect(() => {
    const count = open === 0 ? "" : `(${open}${hasMore ? "+" : ""}) `;
    document.title = `${count}Troupe`;
  }, [open, hasMore]);
  return (
    <Access whoami={whoami}>
      <Notices>
        <div className="app">
          <a className="skip" href="#main">
            Skip to the content
          </a>
          <Navigation open={open} hasMore={hasMore} whoami={whoami} onLeave={onLeave} />
          <main id="main" tabIndex={-1}>
            <Suspense fallback={<p className="loading" role="status" aria-label="Loading" />}>
              <Switch>
                <Route path="/" component={TeamsPage} />
                <Route path="/inbox" component={InboxPage} />
                <Route path="/runs">
                  <Needs scope="runs:read">
                    <RunsPage />
                  </Needs>
                </Route>
                <Route path="/usage">
                  <Needs scope="usage:read">
                    <UsagePage />
                  </Needs>
                </Route>
                <Route path="/compare" component={ComparePage} />
                <Route path="/teams/:team/runs/:run">
                  {({ team, run }) => <RunPage key={`${team} ${run}`} teamId={team} runId={run} />}
                </Route>
                <Route path="/teams/:id/files">
                  {({ id }) => (
                    <Needs scope="teams:read">
                      <FilesPage key={id} teamId={id} />
                    </Needs>
                  )}
                </Route>
                <Route path="/teams/:id/schedules">
                  {({ id }) => (
                    <Needs scope="runs:read">
                      <SchedulesPage key={id} teamId={id} />
                    </Needs>
                  )}
                </Route>
                <Route path="/webhooks">
                  <Needs scope="teams:read">
                    <WebhooksPage />
                  </Needs>
                </Route>
                <Route path="/webhooks/:id">
                  {({ id }) => (
                    <Needs scope="teams:read">
                      <DeliveriesPage key={id} webhookId={id} />
                    </Needs>
                  )}
                </Route>
                <Route path="/keys">
                  <Needs scope="keys:write">
                    <KeysPage />
                  </Needs>
                </Route>
                <Route path="/teams/:id">{({ id }) => <TeamPage key={id} id={id} />}</Route>
                <Route>
                  <div className="empty">
                    <h1>There is nothing at this address</h1>
                    <Link className="button" href="/">
                      Show the teams
                    </Link>
                  </div>
                </Route>
              </Switch>
            </Suspense>
          </main>
        </div>
      </Notices>
    </Access>
  );
}
