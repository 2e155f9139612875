import { lazy, Suspense, useEffect, useState } from "react";
import { useInbox } from "troupe/react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { HomePage } from "../home/home-page.tsx";
import { useAnnouncedRequests } from "../requests/notifications.ts";
import { TeamFrame } from "../team/team-frame.tsx";
import { TeamsPage } from "../teams/teams-page.tsx";
import { Access, Needs } from "./access.tsx";
import { firstPageOf, pagesOf } from "./first-page.ts";
import { type CallerProps, Navigation } from "./navigation.tsx";
import { NoPage } from "./no-page.tsx";
import { Notices } from "./notices.tsx";
import { TeamTab } from "./team-tab.tsx";
import { useCountInTitle } from "./title.ts";
import { useKeptFocus } from "./use-kept-focus.ts";

const InboxPage = lazy(async () => ({
  default: (await import("../requests/inbox-page.tsx")).InboxPage,
}));
const RunsPage = lazy(async () => ({ default: (await import("../runs/runs-page.tsx")).RunsPage }));
const FailuresPage = lazy(async () => ({
  default: (await import("../failures/failures-page.tsx")).FailuresPage,
}));
const RunPage = lazy(async () => ({ default: (await import("../runs/run-page.tsx")).RunPage }));
const UsagePage = lazy(async () => ({
  default: (await import("../usage/usage-page.tsx")).UsagePage,
}));
const ComparePage = lazy(async () => ({
  default: (await import("../compare/compare-page.tsx")).ComparePage,
}));
const WebhooksPage = lazy(async () => ({
  default: (await import("../webhooks/webhooks-page.tsx")).WebhooksPage,
}));
const DeliveriesPage = lazy(async () => ({
  default: (await import("../webhooks/deliveries-page.tsx")).DeliveriesPage,
}));
const MemoryPage = lazy(async () => ({
  default: (await import("../memory/memory-page.tsx")).MemoryPage,
}));
const CollectionsPage = lazy(async () => ({
  default: (await import("../memory/collections-page.tsx")).CollectionsPage,
}));
const SkillsPage = lazy(async () => ({
  default: (await import("../memory/skills-page.tsx")).SkillsPage,
}));
const CollectionPage = lazy(async () => ({
  default: (await import("../memory/collection-page.tsx")).CollectionPage,
}));
const DocumentPage = lazy(async () => ({
  default: (await import("../memory/document-page.tsx")).DocumentPage,
}));
const NewTeamPage = lazy(async () => ({
  default: (await import("../editor/new-team-page.tsx")).NewTeamPage,
}));
const PlaygroundPage = lazy(async () => ({
  default: (await import("../playground/playground-page.tsx")).PlaygroundPage,
}));
const Finder = lazy(() => import("./finder.tsx"));
const ConnectionsPage = lazy(async () => ({
  default: (await import("../connections/connections-page.tsx")).ConnectionsPage,
}));
const KeysPage = lazy(async () => ({ default: (await import("../keys/keys-page.tsx")).KeysPage }));

export function App({ whoami, onLeave, onTenants }: CallerProps) {
  useKeptFocus();
  const { status, requests, hasMore } = useInbox({ order: "expires_at" });
  const [, navigate] = useLocation();
  useAnnouncedRequests(requests, status === "open", () => navigate("/inbox"));
  const open = requests.length;
  useCountInTitle(open === 0 ? "" : `(${open}${hasMore ? "+" : ""}) `);
  const first = firstPageOf(whoami);
  const [finding, setFinding] = useState(false);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setFinding(true);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  return (
    <Access whoami={whoami}>
      <Notices>
        <div className="app">
          <a className="skip" href="#main">
            Skip to content
          </a>
          <Navigation
            open={open}
            hasMore={hasMore}
            onFind={() => setFinding(true)}
            {...{ whoami, onLeave, onTenants }}
          />
          {finding && (
            <Suspense>
              <Finder whoami={whoami} onClose={() => setFinding(false)} />
            </Suspense>
          )}
          <main id="main" tabIndex={-1}>
            <Suspense fallback={<p className="loading" role="status" aria-label="Loading" />}>
              <Switch>
                <Route path="/">
                  {first === "/" ? <HomePage /> : <Redirect to={first} replace />}
                </Route>
                <Route path="/teams" component={TeamsPage} />
                <Route path="/new-team">
                  <Needs scopes={["teams:write"]}>
                    <NewTeamPage />
                  </Needs>
                </Route>
                <Route path="/teams/:id/playground">
                  {({ id }) => (
                    <Needs scopes={["teams:write", "runs:write"]}>
                      <PlaygroundPage key={id} teamId={id} />
                    </Needs>
                  )}
                </Route>
                <Route path="/inbox">
                  {pagesOf(whoami).inbox ? (
                    <InboxPage />
                  ) : (
                    <Needs scopes={["teams:read", "runs:read"]}>{null}</Needs>
                  )}
                </Route>
                <Route path="/runs">
                  <Needs scopes={["runs:read"]}>
                    <RunsPage />
                  </Needs>
                </Route>
                <Route path="/runs/failures">
                  <Needs scopes={["runs:read"]}>
                    <FailuresPage />
                  </Needs>
                </Route>
                <Route path="/usage">
                  <Needs scopes={["usage:read"]}>
                    <UsagePage />
                  </Needs>
                </Route>
                <Route path="/compare" component={ComparePage} />
                <Route path="/teams/:team/runs/:run">
                  {({ team, run }) => <RunPage key={`${team} ${run}`} teamId={team} runId={run} />}
                </Route>
                <Route path="/memory">
                  <Needs scopes={["teams:read"]}>
                    <MemoryPage whoami={whoami} />
                  </Needs>
                </Route>
                <Route path="/memory/collections">
                  <Needs scopes={["teams:read"]}>
                    <CollectionsPage />
                  </Needs>
                </Route>
                <Route path="/memory/skills">
                  <Needs scopes={["teams:read"]}>
                    <SkillsPage />
                  </Needs>
                </Route>
                <Route path="/memory/collections/:id">
                  {({ id }) => (
                    <Needs scopes={["teams:read"]}>
                      <CollectionPage key={id} id={id} />
                    </Needs>
                  )}
                </Route>
                <Route path="/memory/collections/:collection/documents/:id">
                  {({ collection, id }) => (
                    <Needs scopes={["teams:read"]}>
                      <DocumentPage key={`${collection} ${id}`} collection={collection} id={id} />
                    </Needs>
                  )}
                </Route>
                <Route path="/webhooks">
                  <Needs scopes={["teams:read"]}>
                    <WebhooksPage />
                  </Needs>
                </Route>
                <Route path="/webhooks/:id">
                  {({ id }) => (
                    <Needs scopes={["teams:read"]}>
                      <DeliveriesPage key={id} webhookId={id} />
                    </Needs>
                  )}
                </Route>
                <Route path="/connections">
                  <Needs scopes={["teams:read"]}>
                    <ConnectionsPage />
                  </Needs>
                </Route>
                <Route path="/keys">
                  <Needs scopes={["keys:write"]}>
                    <KeysPage />
                  </Needs>
                </Route>
                <Route path="/teams/:id/:tab?">
                  {({ id }) => (
                    <TeamFrame key={id} teamId={id}>
                      <TeamTab teamId={id} />
                    </TeamFrame>
                  )}
                </Route>
                <Route>
                  <NoPage />
                </Route>
              </Switch>
            </Suspense>
          </main>
        </div>
      </Notices>
    </Access>
  );
}
