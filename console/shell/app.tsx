import { lazy, Suspense, useEffect } from "react";
import type { WhoAmI } from "troupe/client";
import { useInbox } from "troupe/react";
import { Link, Route, Switch } from "wouter";
import { InboxPage } from "../requests/inbox-page.tsx";
import { TeamPage } from "../team/team-page.tsx";
import { TeamsPage } from "../teams/teams-page.tsx";
import { Navigation } from "./navigation.tsx";
import { Notices } from "./notices.tsx";

const RunsPage = lazy(async () => ({ default: (await import("../runs/runs-page.tsx")).RunsPage }));
const RunPage = lazy(async () => ({ default: (await import("../runs/run-page.tsx")).RunPage }));
const UsagePage = lazy(async () => ({
  default: (await import("../usage/usage-page.tsx")).UsagePage,
}));
const ComparePage = lazy(async () => ({
  default: (await import("../compare/compare-page.tsx")).ComparePage,
}));

export interface AppProps {
  whoami: WhoAmI;
  /** Forgets the key; undefined without one. */
  onLeave: (() => void) | undefined;
}

export function App({ whoami, onLeave }: AppProps) {
  const { requests, hasMore } = useInbox();
  const open = requests.length;
  useEffect(() => {
    const count = open === 0 ? "" : `(${open}${hasMore ? "+" : ""}) `;
    document.title = `${count}Troupe`;
  }, [open, hasMore]);
  return (
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
              <Route path="/runs" component={RunsPage} />
              <Route path="/usage" component={UsagePage} />
              <Route path="/compare" component={ComparePage} />
              <Route path="/teams/:team/runs/:run">
                {({ team, run }) => <RunPage key={`${team} ${run}`} teamId={team} runId={run} />}
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
  );
}
