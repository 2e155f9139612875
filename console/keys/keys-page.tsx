import { visibleName } from "../text/foreign.ts";
import { Empty } from "../parts/empty.tsx";
import { useCallback, useState } from "react";
import type { KeyInfo, Keys, TroupeClient } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Confirm } from "../dialogs/confirm.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { Secret } from "../dialogs/secret.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useMay } from "../shell/access.tsx";
import { useNotices } from "../shell/notices.tsx";
import { useTitle } from "../shell/title.ts";
import { KeyEntry } from "./key-entry.tsx";
import { KeyForm } from "./key-form.tsx";
import { TokenForm } from "./token-form.tsx";

const SHOWN = {
  key: {
    title: "New key",
    text: "Copy it now: it is not shown again. Keep it as safe as a password.",
  },
  token: {
    title: "New team token",
    text: "Copy it now: it is not shown again. It is for a browser, or for a program that uses only this team.",
  },
};

/** Newest first. */
async function allKeys({ keys }: TroupeClient): Promise<KeyInfo[]> {
  const all: KeyInfo[] = [];
  let cursor: string | null = null;
  do {
    const page: Keys = await keys.list({ limit: 200, ...(cursor !== null && { cursor }) });
    all.push(...page.keys);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

/** The keys of the tenant, and tokens for single teams. */
export function KeysPage() {
  useTitle("Keys");
  const client = useTroupe();
  const load = useCallback(() => allKeys(client), [client]);
  const { value: keys, error, reload } = useLoaded(load);
  const [form, setForm] = useState<"key" | "token">();
  const [made, setMade] = useState<{ kind: "key" | "token"; secret: string }>();
  const [revoked, setRevoked] = useState<KeyInfo>();
  const { tell } = useNotices();
  const mayToken = useMay("teams:write");

  if (keys === undefined && error !== undefined) {
    return <Failure error={error} onRetry={reload} />;
  }
  return (
    <div className="page">
      <header className="page-head">
        <h1>Keys</h1>
        {mayToken && (
          <button className="button" type="button" onClick={() => setForm("token")}>
            New team token
          </button>
        )}
        <button className="button primary" type="button" onClick={() => setForm("key")}>
          <Icon name="plus" />
          New key
        </button>
      </header>
      {keys === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {keys?.length === 0 && (
        <Empty
          title="No keys yet."
          text="A key lets a program call this server. Keys in the server's settings are not listed."
        />
      )}
      {keys !== undefined && keys.length > 0 && (
        <ul className="items" aria-label="Keys">
          {keys.map((key) => (
            <KeyEntry key={key.id} apiKey={key} onRevoke={() => setRevoked(key)} />
          ))}
        </ul>
      )}
      {form === "key" && (
        <KeyForm
          onClose={() => setForm(undefined)}
          onMade={(secret) => {
            setMade({ kind: "key", secret });
            reload();
          }}
        />
      )}
      {form === "token" && (
        <TokenForm
          onClose={() => setForm(undefined)}
          onMade={(secret) => setMade({ kind: "token", secret })}
        />
      )}
      {made && (
        <Secret {...SHOWN[made.kind]} secret={made.secret} onClose={() => setMade(undefined)} />
      )}
      {revoked && (
        <Confirm
          title={`Revoke ${visibleName(revoked.name)}?`}
          text="Programs that use this key lose access within 10 seconds. This can't be undone."
          button="Revoke"
          action={async () => {
            await client.keys.revoke(revoked.id);
            tell("The key was revoked.");
            reload();
          }}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </div>
  );
}
