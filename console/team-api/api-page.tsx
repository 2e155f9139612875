import { useId, useState } from "react";
import { useMay } from "../shell/access.tsx";
import { useFramedTeam } from "../team/framed-team.ts";
import { CodeBlock } from "../text/code-block.tsx";
import { callsOf } from "./calls.ts";
import { OwnTool } from "./own-tool.tsx";

/** The calls with which programs use this team. */
export function ApiPage() {
  const { teamId, handle } = useFramedTeam();
  const calls = callsOf(location.origin, teamId);
  const [chosen, setChosen] = useState(calls[0]?.name ?? "");
  const mayRead = useMay("teams:read");
  const heading = useId();
  const shown = calls.find(({ name }) => name === chosen);
  return (
    <div className="page">
      <p className="muted">
        Programs call this team with a key, here from <code>TROUPE_API_KEY</code>. A local server (
        <code>npm start</code>) needs none.
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
      {mayRead && <OwnTool team={handle} />}
    </div>
  );
}
