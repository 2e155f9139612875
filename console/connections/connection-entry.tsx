import type { ConnectionInfo } from "troupe/client";
import { Name } from "../parts/name.tsx";
import { Ago } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";

interface ConnectionEntryProps {
  connection: ConnectionInfo;
  /** Undefined where the credential may not change connections. */
  actions: { onLogin: () => void; onDelete: () => void } | undefined;
}

export function ConnectionEntry({ connection, actions }: ConnectionEntryProps) {
  const { server, user, status, scope, issuer, started_by, created_at, connected_at } = connection;
  const name = visibleName(server);
  const again = connected_at !== null;
  return (
    <li className="item">
      <div className="item-main">
        <p className="item-title">
          <strong>
            <Name name={server} />
          </strong>
          <span className="muted">{status === "connected" ? "Connected" : "Login required"}</span>
        </p>
        {scope !== null && (
          <ul className="tags" aria-label="Scopes">
            {scope.split(" ").map((one) => (
              <li key={one}>
                <code>{visibleName(one)}</code>
              </li>
            ))}
          </ul>
        )}
        <p className="muted item-facts">
          <span>
            {user === null ? "For runs without a user" : "For runs of "}
            {user !== null && <Name name={user} />}
          </span>
          <span>
            Added <Ago time={created_at} />
          </span>
          <span>
            {connected_at === null ? "Not logged in yet" : "Last login "}
            {connected_at !== null && <Ago time={connected_at} />}
          </span>
          {started_by !== null && (
            <span>
              Started by <Name name={started_by} />
            </span>
          )}
          {issuer !== null && (
            <span>
              Logged in at <Name name={issuer} />
            </span>
          )}
        </p>
      </div>
      {actions && (
        <div className="item-actions">
          <button
            className="button small"
            type="button"
            aria-label={`${again ? "Log in again" : "Log in"}: ${name}`}
            onClick={actions.onLogin}
          >
            {again ? "Log in again" : "Log in"}
          </button>
          <button
            className="button small"
            type="button"
            aria-label={`Delete ${name}`}
            onClick={actions.onDelete}
          >
            Delete
          </button>
        </div>
      )}
    </li>
  );
}
