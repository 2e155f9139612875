import { CopilotChat, CopilotKitProvider, useAgent, useInterrupt } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { createRoot } from "react-dom/client";

/** What a GraphFlow shows of its state. */
interface Shown {
  speaker: string | null;
  graph?: { ready: string[]; turns: Record<string, number> };
}

function Newsroom({ id }: { id: string }) {
  const { agent } = useAgent();
  const shown = (agent.state as { troupe?: Shown }).troupe;
  useInterrupt({
    render: ({ interrupt, resolve }) => (
      <p>
        {interrupt?.message} <button onClick={() => resolve({ content: "print" })}>Print</button>{" "}
        <button onClick={() => resolve({ content: "again" })}>Again</button>
      </p>
    ),
  });
  return (
    <>
      <CopilotChat threadId={id} />
      <aside>
        <h2>Who is at it</h2>
        <p>{shown?.speaker ?? shown?.graph?.ready.join(", ")}</p>
        <h2>Turns</h2>
        <ul>
          {Object.entries(shown?.graph?.turns ?? {}).map(([name, turns]) => (
            <li key={name}>
              {name}: {turns}
            </li>
          ))}
        </ul>
      </aside>
    </>
  );
}

// A conversation is a team, and stays when the page is loaded again.
const id =
  localStorage.getItem("team") ?? (await (await fetch("/team", { method: "POST" })).text());
localStorage.setItem("team", id);
createRoot(document.querySelector("main") as HTMLElement).render(
  <CopilotKitProvider runtimeUrl="/api/copilotkit">
    <Newsroom id={id} />
  </CopilotKitProvider>,
);
