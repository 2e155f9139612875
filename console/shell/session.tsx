import { useEffect, useMemo, useState } from "react";
import { ApiError, TroupeClient, type WhoAmI } from "troupe/client";
import { TroupeProvider } from "troupe/react";
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

  if (access === undefined) return <p className="starting" role="status" aria-label="Loading" />;
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
