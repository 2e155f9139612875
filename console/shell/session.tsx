import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { ApiError, TroupeClient, type WhoAmI } from "troupe/client";
import { TroupeProvider, useTeam } from "troupe/react";
import { useRoute } from "wouter";
import { PAGE_SIZE } from "../conversation/page-size.ts";
import { Failure } from "../parts/failure.tsx";
import { setCurrency } from "../parts/numbers.ts";
import { removeDrafts } from "../team/use-draft.ts";
import { App } from "./app.tsx";
import { send } from "./leaving.ts";
import { Login } from "./login.tsx";

const TenantsPage = lazy(async () => ({
  default: (await import("../tenants/tenants-page.tsx")).TenantsPage,
}));

const KEY = "troupe.key";
/** The tenant that the operator has chosen. */
const TENANT = "troupe.tenant";

/** Finds out whether the server requires a key, and asks for it. The key is stored until the tab is closed. */
export function Session() {
  const [key, setKey] = useState(() => sessionStorage.getItem(KEY) ?? undefined);
  const [tenant, setTenant] = useState(() => sessionStorage.getItem(TENANT) ?? undefined);
  const [attempt, setAttempt] = useState(0);
  const client = useMemo(() => {
    const sendIn = async (request: Request): Promise<Response> => {
      if (tenant !== undefined) request.headers.set("troupe-tenant", tenant);
      const response = await send(request);
      // The credential has expired or was revoked: the page asks for another one.
      if (response.status === 401 && !request.url.endsWith("/whoami")) {
        setAttempt((count) => count + 1);
      }
      return response;
    };
    return new TroupeClient({ baseURL: location.origin, token: key, fetch: sendIn });
  }, [key, tenant]);
  const [access, setAccess] = useState<WhoAmI | Error>();

  useEffect(() => {
    let current = true;
    client.whoami().then(
      (whoami) => current && setAccess(whoami),
      (error: unknown) => current && setAccess(error as Error),
    );
    return () => {
      current = false;
    };
  }, [client, attempt]);

  const enter = (entered: string): void => {
    setAccess(undefined);
    sessionStorage.setItem(KEY, entered);
    setKey(entered);
    setAttempt(attempt + 1);
  };
  const choose = (chosen: string | undefined): void => {
    if (chosen === undefined) sessionStorage.removeItem(TENANT);
    else sessionStorage.setItem(TENANT, chosen);
    setAccess(undefined);
    setTenant(chosen);
  };
  const leave = (): void => {
    choose(undefined);
    sessionStorage.removeItem(KEY);
    removeDrafts();
    setAccess(undefined);
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
  setCurrency(access.currency);
  if (access.kind === "operator" && access.tenant === "") {
    return (
      <TroupeProvider client={client}>
        <Suspense fallback={<p className="starting" role="status" aria-label="Loading" />}>
          <TenantsPage onChoose={choose} onLeave={leave} />
        </Suspense>
      </TroupeProvider>
    );
  }
  return (
    <TroupeProvider client={client}>
      <App
        whoami={access}
        onLeave={key === undefined ? undefined : leave}
        onTenants={access.kind === "operator" ? () => choose(undefined) : undefined}
      />
    </TroupeProvider>
  );
}

/** Loads the conversation of the address while the credential is checked. Its page shows the same store. */
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
