import { useEffect, useState } from "react";
import type { ConnectionInfo, StartedConnection } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Confirm } from "../dialogs/confirm.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useMay } from "../shell/access.tsx";
import { useNotices } from "../shell/notices.tsx";
import { useTitle } from "../shell/title.ts";
import { visibleName } from "../text/foreign.ts";
import { ConnectionEntry } from "./connection-entry.tsx";
import { ConnectionForm } from "./connection-form.tsx";
import { LoginDialog } from "./login-dialog.tsx";
import { useConnections } from "./use-connections.ts";

/** The logins of the tenant and its users at MCP servers. */
export function ConnectionsPage() {
  useTitle("Connections");
  const client = useTroupe();
  const mayWrite = useMay("teams:write");
  const { tell, attempt } = useNotices();
  const [isNew, setIsNew] = useState(false);
  const [login, setLogin] = useState<StartedConnection>();
  const [deleted, setDeleted] = useState<ConnectionInfo>();
  const { value: connections, error, reload } = useConnections(login !== undefined);

  const now = connections?.find(({ id }) => id === login?.id);
  const done = now?.status === "connected" && now.connected_at !== login?.connected_at;
  useEffect(() => {
    if (!done) return;
    setLogin(undefined);
    tell("The login is done. Runs that wait for it continue.");
  }, [done, tell]);

  const begun = (started: StartedConnection): void => {
    setLogin(started);
    reload();
  };
  if (connections === undefined && error !== undefined) {
    return <Failure error={error} onRetry={reload} />;
  }
  const create = (
    <button className="button primary" type="button" onClick={() => setIsNew(true)}>
      <Icon name="plus" />
      New connection
    </button>
  );
  return (
    <div className="page">
      <header className="page-head">
        <h1>Connections</h1>
        {mayWrite && connections !== undefined && connections.length > 0 && create}
      </header>
      {connections === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {connections?.length === 0 && (
        <div className="empty">
          <h2>No connections yet</h2>
          <p className="muted">
            A connection is a login at an MCP server, which all teams use that have the address of
            the server: in runs of its user, or in those without a user. A run that needs a login
            asks for it.
          </p>
          {mayWrite && create}
        </div>
      )}
      {connections !== undefined && connections.length > 0 && (
        <ul className="items" aria-label="Connections">
          {connections.map((connection) => (
            <ConnectionEntry
              key={connection.id}
              connection={connection}
              actions={
                mayWrite
                  ? {
                      onLogin: () =>
                        void attempt(async () => {
                          const { server, user } = connection;
                          const named = user === null ? { server } : { server, user };
                          begun(await client.connections.create(named));
                        }),
                      onDelete: () => setDeleted(connection),
                    }
                  : undefined
              }
            />
          ))}
        </ul>
      )}
      {isNew && <ConnectionForm onClose={() => setIsNew(false)} onBegun={begun} />}
      {login && <LoginDialog login={login} onClose={() => setLogin(undefined)} />}
      {deleted && (
        <Confirm
          title={`Delete the connection to ${visibleName(deleted.server)}?`}
          text="Its tokens are forgotten, and the next run that needs the server asks for a login. The authorization server is asked to revoke them. This cannot be undone."
          button="Delete"
          action={async () => {
            await client.connections.delete(deleted.id);
            tell("The connection was deleted.");
            reload();
          }}
          onClose={() => setDeleted(undefined)}
        />
      )}
    </div>
  );
}
