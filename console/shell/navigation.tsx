import type { WhoAmI } from "troupe/client";
import { Link, useRoute } from "wouter";
import { Icon, type IconName } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { pagesOf } from "./first-page.ts";
import { Logo } from "./logo.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

export interface CallerProps {
  whoami: WhoAmI;
  /** Logs out; undefined without a key. */
  onLeave: (() => void) | undefined;
  /** Shows the tenants; undefined unless it is the operator. */
  onTenants: (() => void) | undefined;
}

interface NavigationProps extends CallerProps {
  /** The number of open questions. */
  open: number;
  hasMore: boolean;
  onFind: () => void;
}

export function Navigation({ open, hasMore, whoami, onFind, onLeave, onTenants }: NavigationProps) {
  const [onTeam] = useRoute("/teams/:id");
  const [onHome] = useRoute("/");
  const [onTeams] = useRoute("/teams");
  const [onNewTeam] = useRoute("/new-team");
  const [onInbox] = useRoute("/inbox");
  const [onRuns] = useRoute("/runs");
  const [onRun] = useRoute("/teams/:team/runs/:run");
  const [onUsage] = useRoute("/usage");
  const [onTeamPart] = useRoute("/teams/:id/:part");
  const [onMemory] = useRoute("/memory/*?");
  const [onWebhooks] = useRoute("/webhooks");
  const [onDeliveries] = useRoute("/webhooks/:id");
  const [onConnections] = useRoute("/connections");
  const [onKeys] = useRoute("/keys");
  const pages = pagesOf(whoami);
  return (
    <header className="navigation">
      <Logo />
      <nav aria-label="Main">
        {pages.teams && <NavigationLink href="/" icon="home" name="Home" current={onHome} />}
        {(pages.teams || whoami.team_id !== null) && (
          <NavigationLink
            href={whoami.team_id === null ? "/teams" : `/teams/${whoami.team_id}`}
            icon="people"
            name={whoami.team_id === null ? "Teams" : "Team"}
            current={onTeams || onNewTeam || onTeam || onTeamPart}
          />
        )}
        {pages.inbox && (
          <NavigationLink href="/inbox" icon="inbox" name="Inbox" current={onInbox}>
            {open > 0 && (
              <span className="badge">
                {open}
                {hasMore && "+"}
                <span className="hidden"> waiting</span>
              </span>
            )}
          </NavigationLink>
        )}
        {pages.runs && (
          <NavigationLink href="/runs" icon="runs" name="Runs" current={onRuns || onRun} />
        )}
        {pages.usage && (
          <NavigationLink href="/usage" icon="chart" name="Usage" current={onUsage} />
        )}
        {pages.memory && (
          <NavigationLink href="/memory" icon="book" name="Memory" current={onMemory} />
        )}
        {pages.webhooks && (
          <NavigationLink
            href="/webhooks"
            icon="hook"
            name="Webhooks"
            current={onWebhooks || onDeliveries}
          />
        )}
        {pages.connections && (
          <NavigationLink
            href="/connections"
            icon="plug"
            name="Connections"
            current={onConnections}
          />
        )}
        {pages.keys && <NavigationLink href="/keys" icon="key" name="Keys" current={onKeys} />}
      </nav>
      <div className="navigation-end">
        {onTenants === undefined ? (
          <span className="muted tenant" title="Tenant">
            {whoami.tenant}
          </span>
        ) : (
          <button
            className="button quiet"
            type="button"
            title="Choose another tenant"
            onClick={onTenants}
          >
            {whoami.tenant}
          </button>
        )}
        <IconButton
          icon="search"
          name="Find"
          title="Find (Ctrl+K)"
          keys="Control+K"
          onClick={onFind}
        />
        <ThemeSwitch />
        {onLeave && <IconButton icon="leave" name="Log out" onClick={onLeave} />}
      </div>
    </header>
  );
}

interface NavigationLinkProps {
  href: string;
  icon: IconName;
  name: string;
  current: boolean;
  children?: React.ReactNode;
}

function NavigationLink({ href, icon, name, current, children }: NavigationLinkProps) {
  return (
    <Link className="place" href={href} aria-current={current ? "page" : undefined}>
      <Icon name={icon} />
      <span className="place-name">{name}</span>
      {children}
    </Link>
  );
}
