import { useEffect, useMemo, useState } from "react";
import { ApiError, TroupeClient, type WhoAmI } from "troupe/client";
import { TroupeProvider, useTeam } from "troupe/react";
import { useRoute } from "wouter";
import { PAGE_SIZE } from "../conversation/page-size.ts";
import { Failure } from "../parts/failure.tsx";
import { App } from "./app.tsx";
import { send } from "./leaving.ts";
import { Login } from "./login.tsx";

const KEY = "troupe.key";

/** Finds out whether the server needs a key, and asks for one. It is kept until the tab is closed. */
export function Session() {
  const [key, setKey] = useState(() => sessionStorage.getItem(KEY) ?? undefined);
  const client = useMemo(
    () => new TroupeClient({ baseURL: location.origin, token: key, fetch: send }),
    [key],
  );
  const [access, setAccess] = useState<WhoAmI | Error>();
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    let current = true;
    setAccess(undefined);
    client.whoami().then(
      (whoami) => current && setAccess(whoami),
      (error: unknown) => current && setAccess(error as Error),
    );
    return () => {
      current = false;
    };
  }, [client, attempt]);

  const enter = (entered: string): void => {
    sessionStorage.setItem(KEY, entered);
    setKey(entered);
    setAttempt(attempt + 1);
  };
  const leave = (): void => {
    sessionStorage.removeItem(KEY);
    setKey(undefined);
  };

  if (access === undefined) {
    return (
      <TroupeProvider client={client}>
        <Starting />
      </TroupeProvider>
    );
  }
  if (access instanceof ApiError && access.status === 401) {
    return <Login refused={key === undefined ? undefined : access.message} onEnter={enter} />;
  }
  if (access instanceof Error) {
    return (
      <main className="centre">
        <Failure error={access} onRetry={() => setAttempt(attempt + 1)} />
      </main>
    );
  }
  return (
    <TroupeProvider client={client}>
      <App whoami={access} onLeave={key === undefined ? undefined : leave} />
    </TroupeProvider>
  );
}

/** While the server says who asks, the conversation of the address is loaded already: its page shows the same store. */
function Starting() {
  const [isTeam, team] = useRoute("/teams/:id");
  return (
    <>
      <p className="starting" role="status" aria-label="Loading" />
      {isTeam && <Ahead id={team.id} />}
    </>
  );
}

function Ahead({ id }: { id: string }) {
  useTeam(id, { pageSize: PAGE_SIZE });
  return null;
}
