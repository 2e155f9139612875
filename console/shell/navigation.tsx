import type { WhoAmI } from "troupe/client";
import { Link, useRoute } from "wouter";
import { Icon, type IconName } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { useMay } from "./access.tsx";
import { Logo } from "./logo.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

export interface CallerProps {
  whoami: WhoAmI;
  /** Forgets the key; undefined without one. */
  onLeave: (() => void) | undefined;
}

interface NavigationProps extends CallerProps {
  /** Questions that wait for an answer. */
  open: number;
  /** Whether there are more than these. */
  hasMore: boolean;
}

export function Navigation({ open, hasMore, whoami, onLeave }: NavigationProps) {
  const [onTeam] = useRoute("/teams/:id");
  const [onTeams] = useRoute("/");
  const [onInbox] = useRoute("/inbox");
  const [onRuns] = useRoute("/runs");
  const [onRun] = useRoute("/teams/:team/runs/:run");
  const [onUsage] = useRoute("/usage");
  const [onTeamPart] = useRoute("/teams/:id/:part");
  const [onWebhooks] = useRoute("/webhooks");
  const [onDeliveries] = useRoute("/webhooks/:id");
  const [onKeys] = useRoute("/keys");
  const mayReadTeams = useMay("teams:read");
  const mayRuns = useMay("runs:read");
  const mayUsage = useMay("usage:read");
  const mayKeys = useMay("keys:write");
  return (
    <header className="navigation">
      <Logo />
      <nav aria-label="Main">
        <Place href="/" icon="people" name="Teams" current={onTeams || onTeam || onTeamPart} />
        <Place href="/inbox" icon="inbox" name="Inbox" current={onInbox}>
          {open > 0 && (
            <span className="badge">
              {open}
              {hasMore && "+"}
              <span className="hidden"> waiting</span>
            </span>
          )}
        </Place>
        {mayRuns && <Place href="/runs" icon="runs" name="Runs" current={onRuns || onRun} />}
        {mayUsage && <Place href="/usage" icon="chart" name="Usage" current={onUsage} />}
        {mayReadTeams && (
          <Place
            href="/webhooks"
            icon="hook"
            name="Webhooks"
            current={onWebhooks || onDeliveries}
          />
        )}
        {mayKeys && <Place href="/keys" icon="key" name="Keys" current={onKeys} />}
      </nav>
      <div className="navigation-end">
        <span className="muted tenant" title="Tenant">
          {whoami.tenant}
        </span>
        <ThemeSwitch />
        {onLeave && <IconButton icon="leave" name="Forget the key" onClick={onLeave} />}
      </div>
    </header>
  );
}

interface PlaceProps {
  href: string;
  icon: IconName;
  name: string;
  current: boolean;
  children?: React.ReactNode;
}

function Place({ href, icon, name, current, children }: PlaceProps) {
  return (
    <Link className="place" href={href} aria-current={current ? "page" : undefined}>
      <Icon name={icon} />
      <span className="place-name">{name}</span>
      {children}
    </Link>
  );
}
