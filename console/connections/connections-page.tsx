import { Empty } from "../parts/empty.tsx";
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
    tell("You are logged in. Runs that waited for it continue.");
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
        <Empty
          title="No connections yet."
          text="A connection is a login at an MCP server, for all teams that use the server. A run that needs one asks for it."
        >
          {mayWrite && create}
        </Empty>
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
          text="Its tokens are deleted and revoked, and the next run that needs the server asks for a login. This can't be undone."
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
