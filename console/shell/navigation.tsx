import type { WhoAmI } from "troupe/client";
import { Link } from "wouter";
import { useNarrow } from "../hooks/use-narrow.ts";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Menu } from "../parts/menu.tsx";
import { Logo } from "./logo.tsx";
import { type Destination, usePlaces } from "./places.ts";
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

/** The entries of a phone, with the one for all others. */
const MOST_ON_PHONES = 5;

export function Navigation({ open, hasMore, whoami, onFind, onLeave, onTenants }: NavigationProps) {
  const places = usePlaces(whoami);
  const isCut = useNarrow() && places.length > MOST_ON_PHONES;
  const direct = isCut ? places.slice(0, MOST_ON_PHONES - 1) : places;
  const others = places.slice(direct.length);
  return (
    <header className="navigation">
      <Logo />
      <nav aria-label="Main">
        {direct.map((place) => (
          <PlaceLink key={place.href} place={place}>
            {place.href === "/inbox" && open > 0 && (
              <span className="badge">
                {open}
                {hasMore && "+"}
                <span className="hidden"> waiting</span>
              </span>
            )}
          </PlaceLink>
        ))}
        {isCut && <MorePlaces places={others} />}
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

/** The places for which a phone has no room, under the name of the open one. */
function MorePlaces({ places }: { places: readonly Destination[] }) {
  const current = places.find((place) => place.current);
  return (
    <Menu
      className="menu more-places"
      summary={
        <summary className="place" data-current={current !== undefined}>
          <Icon name={current?.icon ?? "more"} />
          <span className="place-name">{current?.name ?? "More"}</span>
        </summary>
      }
    >
      {places.map((place) => (
        <PlaceLink key={place.href} place={place} />
      ))}
    </Menu>
  );
}

function PlaceLink({ place, children }: { place: Destination; children?: React.ReactNode }) {
  return (
    <Link className="place" href={place.href} aria-current={place.current ? "page" : undefined}>
      <Icon name={place.icon} />
      <span className="place-name">{place.name}</span>
      {children}
    </Link>
  );
}
