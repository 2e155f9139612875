import { type FormEvent, useState } from "react";
import { visibleName } from "../text/foreign.ts";
import { kindOf } from "../teams/kinds.ts";
import { configOf, textOf } from "../picture/component-json.ts";
import { emptyTeam } from "../component/blank-team.ts";
import type { Catalogue, ComponentData } from "../component/catalogue.ts";
import { freeName, modelsIn, namesIn, withParticipant, wrongName } from "../component/edits.ts";
import { connects as areConnected } from "../component/connections.ts";
import { graphOf } from "../component/graph.ts";
import { promptKeyIn } from "../component/setting-labels.ts";
import type { ValuePath } from "../component/value-path.ts";
import type { ServerParts } from "../component/use-server-parts.ts";

/** The usual kinds of agents, with their purpose and the name that is proposed. */
const KINDS = [
  ["autogen_agentchat.agents.AssistantAgent", "Assistant: answers with a model", "assistant"],
  ["autogen_agentchat.agents.UserProxyAgent", "Human: asks a person", "human"],
  ["autogen_agentchat.agents.CodeExecutorAgent", "Code executor: runs code", "executor"],
] as const;
const ROUND_ROBIN = "autogen_agentchat.teams.RoundRobinGroupChat";
const USUAL = new Set<string>(KINDS.map(([provider]) => provider));

interface AddAgentProps {
  component: ComponentData;
  team: ValuePath;
  server: ServerParts;
  /** Called with the name of the new agent. */
  onAdd: (component: ComponentData, name: string) => void;
}

/** Adds an agent to a team. */
export function AddAgent({ component, team, server, onAdd }: AddAgentProps) {
  const { catalogue } = server;
  const names = namesIn(component, team);
  const [kind, setKind] = useState<string>(KINDS[0][0]);
  const [typed, setTyped] = useState<string>();
  const [description, setDescription] = useState("");
  const [prompt, setPrompt] = useState("");
  const own = modelsIn(component, team);
  // A team inside an agent begins without agents.
  const models = own.length > 0 ? own : modelsIn(component, []);
  const [copied, setCopied] = useState<string>();
  const [after, setAfter] = useState("");
  const beginning = KINDS.find(([provider]) => provider === kind)?.[2] ?? "agent";
  const name = typed ?? freeName(names, beginning);
  const wrong = wrongName(name, names);
  const model = copied ?? (models[0] === undefined ? "" : `copy ${models[0].name}`);
  const connects = areConnected(component, team);
  const hasModel = catalogue.has(kind, "model_client");
  const isRequired = catalogue
    .settings(kind)
    .some(({ key, required }) => key === "model_client" && required);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (wrong !== undefined) return;
    const client = hasModel ? modelOf(model, models, catalogue) : undefined;
    const part = agentOf(kind, { name, description, prompt, client }, catalogue);
    onAdd(withParticipant(component, team, part, after === "" ? undefined : after), name);
  };
  const others = catalogue
    .fitting("participants")
    .filter(({ provider }) => !USUAL.has(provider) && !provider.endsWith("MessageFilterAgent"));
  return (
    <form className="stack" noValidate onSubmit={submit}>
      <label className="field">
        <span>Kind</span>
        <select value={kind} onChange={({ target }) => setKind(target.value)}>
          {KINDS.map(([provider, text]) => (
            <option key={provider} value={provider}>
              {text}
            </option>
          ))}
          <optgroup label="Others">
            {others.map(({ provider, name: known }) => (
              <option key={provider} value={provider}>
                {known}
              </option>
            ))}
          </optgroup>
        </select>
      </label>
      <label className="field">
        <span>Name</span>
        <input
          data-focus
          value={name}
          spellCheck={false}
          aria-invalid={wrong !== undefined}
          aria-describedby="new-name"
          onChange={({ target }) => setTyped(target.value.trim())}
        />
      </label>
      <p id="new-name" className={wrong === undefined ? "hidden" : "field-errors"}>
        {wrong}
      </p>
      {catalogue.has(kind, "description") && (
        <label className="field">
          <span>Description: what the others know about it</span>
          <textarea
            rows={2}
            value={description}
            onChange={({ target }) => setDescription(target.value)}
          />
        </label>
      )}
      {promptKey(kind, catalogue) !== undefined && (
        <label className="field">
          <span>System message</span>
          <textarea rows={8} value={prompt} onChange={({ target }) => setPrompt(target.value)} />
        </label>
      )}
      {hasModel && (
        <label className="field">
          <span>Model</span>
          <select value={model} onChange={({ target }) => setCopied(target.value)}>
            {!isRequired && <option value="">None</option>}
            <optgroup label="The same as">
              {models.map(({ name: owner, model: known }) => (
                <option key={owner} value={`copy ${owner}`}>
                  {visibleName(owner)}: {visibleName(labelOf(known))}
                </option>
              ))}
            </optgroup>
            <optgroup label="A model of">
              {catalogue.fitting("model_client").map(({ provider, name: known }) => (
                <option key={provider} value={provider}>
                  {known}
                </option>
              ))}
            </optgroup>
          </select>
        </label>
      )}
      {connects && names.length > 0 && (
        <label className="field">
          <span>{graphOf(component, team) ? "Works after" : "Handoff from"}</span>
          <select value={after} onChange={({ target }) => setAfter(target.value)}>
            <option value="">
              {graphOf(component, team) ? "No agent: at the start" : "No agent yet"}
            </option>
            {names.map((one) => (
              <option key={one} value={one}>
                {visibleName(one)}
              </option>
            ))}
          </select>
        </label>
      )}
      <button className="button primary" disabled={wrong !== undefined}>
        Add {visibleName(name) || "agent"}
      </button>
    </form>
  );
}

function labelOf(model: ComponentData): string {
  return textOf(configOf(model)["model"]) || kindOf(model.provider);
}

function modelOf(
  chosen: string,
  models: ReturnType<typeof modelsIn>,
  catalogue: Catalogue,
): ComponentData | undefined {
  const copied = models.find(({ name }) => `copy ${name}` === chosen)?.model;
  if (copied !== undefined || chosen === "" || chosen.startsWith("copy ")) return copied;
  const made = catalogue.empty(chosen);
  const [first] = catalogue.names(chosen, "model");
  return first === undefined ? made : { ...made, config: { ...made.config, model: first } };
}

interface NewAgent {
  name: string;
  description: string;
  prompt: string;
  client: ComponentData | undefined;
}

/** An agent as the form describes it. A team inside it has no agents yet. */
export function agentOf(
  kind: string,
  { name, description, prompt, client }: NewAgent,
  catalogue: Catalogue,
): ComponentData {
  const isTeam = catalogue.has(kind, "participants");
  const made = isTeam ? emptyTeam(kind, catalogue) : catalogue.empty(kind);
  const key = promptKey(kind, catalogue);
  return {
    ...made,
    config: {
      ...made.config,
      ...(catalogue.has(kind, "team") && { team: emptyTeam(ROUND_ROBIN, catalogue) }),
      name,
      ...(description !== "" && { description }),
      ...(key !== undefined && prompt !== "" && { [key]: prompt }),
      ...(client !== undefined && { model_client: client }),
      ...(catalogue.has(kind, "model_client_stream") && { model_client_stream: true }),
    },
  };
}

function promptKey(kind: string, catalogue: Catalogue): string | undefined {
  return promptKeyIn((key) => catalogue.has(kind, key));
}
