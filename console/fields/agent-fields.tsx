import { useMemo } from "react";
import { configOf, listOf, textOf } from "../picture/component-json.ts";
import { isPrompt, labelOf } from "../component/setting-labels.ts";
import type { ComponentData } from "../component/catalogue.ts";
import { EdgesField } from "./edges-field.tsx";
import { namesIn, withName } from "../component/edits.ts";
import { graphOf } from "../component/graph.ts";
import { HandoffsField } from "./handoffs-field.tsx";
import { FoldedSettings } from "../inputs/mistakes.tsx";
import { MemoryField } from "./memory-field.tsx";
import { NamesField } from "./names-field.tsx";
import { ModelFields } from "./model-fields.tsx";
import { NameField } from "../inputs/name-field.tsx";
import { PromptField } from "../inputs/prompt-field.tsx";
import { OrderField } from "./order-field.tsx";
import { agentPath, modelPath, readyTools } from "../component/parts.ts";
import { type ValuePath, valueAt, withValue } from "../component/value-path.ts";
import { type FieldsProps, PartField, SettingsFields } from "../inputs/settings-fields.tsx";
import { TextField } from "../inputs/text-field.tsx";
import { ToolSearchField } from "./tool-search-field.tsx";
import { ToolsField } from "./tools-field.tsx";

/** The texts about an agent, with the value that stands for no text. */
const TEXTS: readonly (readonly [key: string, none: "" | null | undefined])[] = [
  ["description", ""],
  ["system_message", null],
  ["instruction", undefined],
  ["instructions", undefined],
  ["response_prompt", undefined],
];

/** Settings that have fields of their own, or are drawn. */
const APART = [
  ...TEXTS.map(([key]) => key),
  "name",
  "model_client",
  "tools",
  "tool_search",
  "skills",
  "memory",
  "workbench",
  "handoffs",
  "code_executor",
  "wrapped_agent",
  "team",
  "participants",
];

interface AgentFieldsProps extends FieldsProps {
  /** The path of its team. */
  team: ValuePath;
  /** The components of the server's templates, which have tools. */
  templates: readonly ComponentData[];
  collections: readonly string[];
  skills: readonly string[];
  /** Called when it was moved or renamed. */
  onAgent: (component: ComponentData, name: string) => void;
  onRemove: () => void;
}

/** The fields of an agent. */
export function AgentFields(props: AgentFieldsProps) {
  const {
    component,
    path: around,
    team,
    catalogue,
    templates,
    collections,
    skills,
    onChange,
    onAgent,
    onRemove,
  } = props;
  const ready = useMemo(() => readyTools([component, ...templates]), [component, templates]);
  const path = agentPath(component, around);
  const part = valueAt(component, path) as ComponentData;
  const model = modelPath(component, path);
  const config = configOf(part);
  const has = (key: string): boolean => key in config || catalogue.has(part.provider, key);
  const names = namesIn(component, team);
  const name = textOf(configOf(valueAt(component, around))["name"]);
  const last = around.at(-1);
  // A team that is an agent alone has no members.
  const index = around.length > team.length && typeof last === "number" ? last : undefined;
  const fields = { component, path, catalogue, onChange };
  return (
    <>
      <NameField
        key={around.join(" ")}
        path={[...around, "config", "name"]}
        value={name}
        others={names.filter((_, other) => other !== index)}
        onChange={(next) =>
          onAgent(
            index === undefined
              ? withValue(component, [...around, "config", "name"], next)
              : withName(component, team, index, next),
            next,
          )
        }
      />
      {TEXTS.filter(([key]) => has(key)).map(([key, none]) => {
        const field = {
          path: [...path, "config", key],
          value: textOf(config[key]),
          placeholder: config[key] === undefined ? "Default" : "None",
          onChange: (text: string) =>
            onChange(withValue(component, [...path, "config", key], text === "" ? none : text)),
        };
        return isPrompt(key) ? (
          <PromptField key={key} {...field} />
        ) : (
          <TextField key={key} long label={labelOf(key)} {...field} />
        );
      })}
      {model !== undefined ? (
        <ModelFields {...fields} path={model} />
      ) : (
        has("model_client") && (
          <PartField
            {...fields}
            path={[...path, "config", "model_client"]}
            label="Model"
            of="model_client"
          />
        )
      )}
      {has("code_executor") && (
        <PartField
          {...fields}
          path={[...path, "config", "code_executor"]}
          label="Code executor"
          of="code_executor"
        />
      )}
      {has("tools") && <ToolsField {...fields} ready={ready} />}
      {has("tool_search") && (
        <ToolSearchField component={component} path={path} onChange={onChange} />
      )}
      {has("skills") && (
        <SkillsField component={component} path={path} skills={skills} onChange={onChange} />
      )}
      {has("memory") && <MemoryField {...fields} collections={collections} />}
      {index !== undefined && graphOf(component, team) !== undefined ? (
        <EdgesField
          component={component}
          team={team}
          name={name}
          names={names}
          onChange={onChange}
        />
      ) : (
        has("handoffs") && (
          <HandoffsField component={component} path={path} others={names} onChange={onChange} />
        )
      )}
      <FoldedSettings title="Other settings" path={path} without={APART}>
        <SettingsFields {...fields} key={part.provider} without={APART} />
      </FoldedSettings>
      {index !== undefined && (
        <footer className="node-editor-foot">
          {names.length > 1 && graphOf(component, team) === undefined && (
            <OrderField
              component={component}
              team={team}
              index={index}
              onMove={(next) => onAgent(next, name)}
            />
          )}
          <button className="button danger" type="button" onClick={onRemove}>
            Remove agent
          </button>
        </footer>
      )}
    </>
  );
}

interface SkillsFieldProps extends Omit<FieldsProps, "catalogue"> {
  /** The names of the skills on the server. Those of the agent's MCP servers are typed. */
  skills: readonly string[];
}

/** The skills of an agent. */
function SkillsField({ component, path, skills, onChange }: SkillsFieldProps) {
  const list = [...path, "config", "skills"];
  const names = listOf(valueAt(component, list)).map(textOf);
  const change = (next: readonly string[]): void =>
    onChange(withValue(component, list, next.length === 0 ? undefined : next));
  return (
    <NamesField
      path={list}
      title="Skills"
      icon="book"
      none="This agent has no skills."
      label="Add a skill"
      names={names}
      offered={skills}
      removal={(name) => `Remove the skill ${name}`}
      onAdd={(name) => change([...names, name])}
      onRemove={(index) => change(names.toSpliced(index, 1))}
    />
  );
}
