import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { Failure } from "../parts/failure.tsx";
import { Name } from "../parts/name.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Logo } from "./logo.tsx";
import { useTitle } from "./title.ts";

interface TenantChoiceProps {
  onChoose: (tenant: string) => void;
  onLeave: () => void;
}

/** Tenants with their numbers and limits, of which an operator chooses one to act in. */
export function TenantChoice({ onChoose, onLeave }: TenantChoiceProps) {
  const client = useTroupe();
  useTitle("Tenants");
  const load = useCallback(async () => {
    const { tenants } = await client.tenants.list({ limit: 200 });
    return Promise.all(tenants.map(({ id }) => client.tenants.get(id)));
  }, [client]);
  const { value: tenants, error, reload } = useLoaded(load);
  if (tenants === undefined && error) return <Failure error={error} onRetry={reload} />;
  return (
    <main className="page">
      <header className="page-head">
        <Logo />
        <h1>Choose a tenant</h1>
        <button className="button" type="button" onClick={onLeave}>
          Log out
        </button>
      </header>
      {tenants === undefined ? (
        <p className="loading" role="status">
          Loading
        </p>
      ) : (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Tenant</th>
              <th scope="col" className="number">
                Teams
              </th>
              <th scope="col" className="number">
                Active runs
              </th>
              <th scope="col" className="number">
                Runs per minute
              </th>
            </tr>
          </thead>
          <tbody>
            {tenants.map(({ id, label, teams, active_runs, limits }) => (
              <tr key={id}>
                <td>
                  <button className="button" type="button" onClick={() => onChoose(id)}>
                    <Name name={label ?? id} />
                  </button>
                </td>
                <td className="number">
                  {teams} of {limits.teams}
                </td>
                <td className="number">
                  {active_runs} of {limits.active_runs}
                </td>
                <td className="number">{limits.runs_per_minute}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {tenants?.length === 0 && <p className="muted none">No tenants yet</p>}
    </main>
  );
}
