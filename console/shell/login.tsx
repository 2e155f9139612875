import { type FormEvent, useState } from "react";
import { Logo } from "./logo.tsx";

interface LoginProps {
  /** Why the key that was entered is not accepted. */
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
          This server takes an API key or an identity token. It is kept until this tab is closed.
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
