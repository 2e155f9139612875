import type { KeyInfo } from "troupe/client";
import { Name } from "../parts/name.tsx";
import { Ago } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";

interface KeyEntryProps {
  apiKey: KeyInfo;
  onRevoke: () => void;
}

export function KeyEntry({ apiKey, onRevoke }: KeyEntryProps) {
  const { id, name, scopes, created_at, expires_at, last_used_at } = apiKey;
  const expired = expires_at !== null && Date.parse(expires_at) <= Date.now();
  return (
    <li className="item">
      <div className="item-main">
        <p className="item-title">
          <strong>
            <Name name={name} />
          </strong>
          {expired && <span className="muted">Expired</span>}
        </p>
        <ul className="tags" aria-label="Scopes">
          {scopes.map((scope) => (
            <li key={scope}>
              <code>{scope}</code>
            </li>
          ))}
        </ul>
        <p className="muted item-facts">
          <span>
            Created <Ago time={created_at} />
          </span>
          <span>
            {last_used_at === null ? "Never used" : "Used "}
            {last_used_at !== null && <Ago time={last_used_at} />}
          </span>
          <span>
            {expires_at === null
              ? "No expiry"
              : `${expired ? "Expired" : "Expires"} ${new Date(expires_at).toLocaleString()}`}
          </span>
          <code>{id}</code>
        </p>
      </div>
      <div className="item-actions">
        <button
          className="button small"
          type="button"
          aria-label={`Revoke ${visibleName(name)}`}
          onClick={onRevoke}
        >
          Revoke
        </button>
      </div>
    </li>
  );
}
