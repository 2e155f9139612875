import { useCallback, useState } from "react";
import type { ListedSkill } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Failure } from "../parts/failure.tsx";
import { LongText } from "../text/long-text.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { counted } from "../parts/numbers.ts";
import { Ago } from "../parts/time.tsx";

interface SkillEntryProps {
  skill: ListedSkill;
  /** Undefined where the credential may not delete it. */
  onDelete: (() => void) | undefined;
}

export function SkillEntry({ skill, onDelete }: SkillEntryProps) {
  const { name, description, version, file_count, created_at } = skill;
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="item">
      <div className="item-main">
        <p className="item-title">
          <strong>{name}</strong>
        </p>
        <p className="item-text">{description}</p>
        <p className="muted item-facts">
          <span>Version {version}</span>
          <span>{counted(file_count, "file")}</span>
          <Ago time={created_at} />
        </p>
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>Instructions and files</summary>
          {isOpen && <SkillText name={name} version={version} />}
        </details>
      </div>
      {onDelete && (
        <div className="item-actions" role="group" aria-label={name}>
          <IconButton icon="bin" name="Delete" onClick={onDelete} />
        </div>
      )}
    </li>
  );
}

function SkillText({ name, version }: { name: string; version: number }) {
  const client = useTroupe();
  const load = useCallback(() => client.skills.get(name, { version }), [client, name, version]);
  const { value, error, reload } = useLoaded(load);
  if (value === undefined) {
    if (error !== undefined) return <Failure error={error} onRetry={reload} />;
    return (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  const { text, files, allowed_tools: tools } = value;
  return (
    <>
      <LongText text={text} />
      {tools !== null && (
        <p className="item-text">
          Narrows the agent to {tools.length === 0 ? "none of its tools" : tools.join(", ")}.
        </p>
      )}
      <ul aria-label="Files">
        {files.map(({ path }) => (
          <li key={path}>
            <code>{path}</code>
          </li>
        ))}
      </ul>
    </>
  );
}
