import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { usePages } from "../hooks/use-list.ts";
import { Empty } from "../parts/empty.tsx";
import { Failure } from "../parts/failure.tsx";
import { Logo } from "../shell/logo.tsx";
import { useTitle } from "../shell/title.ts";
import { COLUMNS, TenantRow } from "./tenant-row.tsx";

const PAGE_SIZE = 200;

interface TenantsPageProps {
  onChoose: (tenant: string) => void;
  onLeave: () => void;
}

/** Tenants with their numbers and limits, of which an operator chooses one to act in. */
export function TenantsPage({ onChoose, onLeave }: TenantsPageProps) {
  const client = useTroupe();
  useTitle("Tenants");
  const list = usePages(
    useCallback(
      async (cursor: string | undefined) => {
        const { tenants, next_cursor } = await client.tenants.list({ limit: PAGE_SIZE, cursor });
        return { items: tenants, next: next_cursor };
      },
      [client],
    ),
  );
  const { value: tenants, error, reload } = list;
  if (tenants === undefined && error) return <Failure error={error} onRetry={reload} />;
  return (
    <main className="page wide-page">
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
      ) : tenants.length === 0 ? (
        <Empty title="No tenants yet." />
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Tenants">
          <table className="table teams numbers tenants">
            <thead>
              <tr>
                <th scope="col">Tenant</th>
                {COLUMNS.map(({ name }) => (
                  <th key={name} scope="col" className="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {tenants.map((tenant) => (
                <TenantRow key={tenant.id} tenant={tenant} onChoose={onChoose} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.hasMore && (
        <button className="button" type="button" onClick={list.loadMore}>
          Show more
        </button>
      )}
    </main>
  );
}
