import { useState } from "react";
import type { StartedConnection } from "troupe/client";
import { useTroupe } from "troupe/react";
import { FormDialog } from "../dialogs/form-dialog.tsx";

interface ConnectionFormProps {
  onClose: () => void;
  onBegun: (login: StartedConnection) => void;
}

/** Begins the login at a new server. */
export function ConnectionForm({ onClose, onBegun }: ConnectionFormProps) {
  const client = useTroupe();
  const [server, setServer] = useState("https://");
  const [user, setUser] = useState("");
  const [scope, setScope] = useState("");
  const [clientId, setClientId] = useState("");
  const [secret, setSecret] = useState("");
  const [issuer, setIssuer] = useState("");
  const submit = async (): Promise<void> => {
    const begun = await client.connections.create({
      server: server.trim(),
      ...(user.trim() !== "" && { user: user.trim() }),
      ...(scope.trim() !== "" && { scope: scope.trim() }),
      ...(clientId.trim() !== "" && { client_id: clientId.trim() }),
      ...(secret !== "" && { client_secret: secret }),
      ...(issuer.trim() !== "" && { issuer: issuer.trim() }),
    });
    onClose();
    onBegun(begun);
  };
  return (
    <FormDialog
      title="New connection"
      button="Connect"
      complete={URL.canParse(server)}
      wide
      onSubmit={submit}
      onClose={onClose}
    >
      <label className="field">
        <span>URL of the MCP server, as in the component</span>
        <input
          className="code"
          type="url"
          required
          data-focus
          value={server}
          onChange={(event) => setServer(event.target.value)}
        />
      </label>
      <label className="field">
        <span>User (optional; empty for runs without a user)</span>
        <input
          autoComplete="off"
          spellCheck={false}
          value={user}
          onChange={(event) => setUser(event.target.value)}
        />
      </label>
      <label className="field">
        <span>Scopes, separated by spaces (optional)</span>
        <input
          className="code"
          spellCheck={false}
          value={scope}
          onChange={(event) => setScope(event.target.value)}
        />
      </label>
      <p className="muted">Only for servers where clients are registered by hand:</p>
      <div className="two-fields">
        <label className="field">
          <span>Client ID (optional)</span>
          <input
            className="code"
            autoComplete="off"
            spellCheck={false}
            value={clientId}
            onChange={(event) => setClientId(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Client secret (optional)</span>
          <input
            className="code"
            type="password"
            autoComplete="off"
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
          />
        </label>
      </div>
      <label className="field">
        <span>URL of the authorization server (required with a client secret)</span>
        <input
          className="code"
          type="url"
          required={secret !== ""}
          value={issuer}
          onChange={(event) => setIssuer(event.target.value)}
        />
      </label>
    </FormDialog>
  );
}
