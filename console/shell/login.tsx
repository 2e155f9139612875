import { type FormEvent, useState } from "react";
import { Logo } from "./logo.tsx";

interface LoginProps {
  /** The reason why the entered key was refused. */
  refused: string | undefined;
  onEnter: (key: string) => void;
}

export function Login({ refused, onEnter }: LoginProps) {
  const [key, setKey] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== "") onEnter(key.trim());
  };
  return (
    <main className="centre">
      <form className="login" onSubmit={submit}>
        <Logo />
        <h1>Enter a key</h1>
        <p className="muted">
          This server requires an API key or an identity token. It is kept until you close this tab.
        </p>
        <label className="field">
          <span>Key or token</span>
          <input
            type="password"
            autoComplete="off"
            autoFocus
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        {refused !== undefined && (
          <p className="problem" role="alert">
            {refused}
          </p>
        )}
        <button className="button primary">Continue</button>
      </form>
    </main>
  );
}
