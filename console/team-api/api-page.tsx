import { useId, useState } from "react";
import { TeamHead } from "../team/team-head.tsx";
import { CodeBlock } from "../text/code-block.tsx";
import { callsOf } from "./calls.ts";

/** The calls with which programs use this team. */
export function ApiPage({ teamId }: { teamId: string }) {
  const calls = callsOf(location.origin, teamId);
  const [chosen, setChosen] = useState(calls[0]?.name ?? "");
  const heading = useId();
  const shown = calls.find(({ name }) => name === chosen);
  return (
    <div className="page">
      <TeamHead teamId={teamId} title="API" tab="api" />
      <p className="muted">
        Programs use this team with a key, which they read from <code>TROUPE_API_KEY</code> here. On
        this machine, the server of <code>npm start</code> needs none.
      </p>
      <div className="segments" role="group" aria-label="Language or protocol">
        {calls.map(({ name }) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === chosen}
            onClick={() => setChosen(name)}
          >
            {name}
          </button>
        ))}
      </div>
      {shown && (
        <section className="stack" aria-labelledby={heading}>
          <h2 id={heading}>{shown.title}</h2>
          <CodeBlock code={shown.code} language={shown.language} />
        </section>
      )}
    </div>
  );
}
