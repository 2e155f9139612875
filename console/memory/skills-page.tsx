import { useCallback, useRef } from "react";
import type { ListedSkill } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useList } from "../hooks/use-list.ts";
import { Empty } from "../parts/empty.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { visibleName } from "../text/foreign.ts";
import { MemoryHead } from "./memory-head.tsx";
import { SkillEntry } from "./skill-entry.tsx";

const PAGE = 50;
/** No change over all teams concerns skills. */
const KINDS = [] as const;

/** The skills of the tenant. */
export function SkillsPage() {
  const client = useTroupe();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const page = await client.skills.list({ limit: PAGE, cursor });
      return { items: page.skills, next: page.next_cursor };
    },
    [client],
  );
  const { value, error, reload, hasMore, loadMore } = useList(load, KINDS);
  const { attempt, postpone, tell, undo } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("teams:write");
  const chooser = useRef<HTMLInputElement>(null);
  const keyOf = ({ name, hash }: ListedSkill): string => `skill ${hash} ${name}`;

  const upload = (file: File): Promise<void> =>
    attempt(async () => {
      // The name of the archive is that of the skill.
      const name = file.name.replace(/\.zip$/i, "");
      for (const skill of value ?? []) if (skill.name === name) undo(keyOf(skill));
      const { version } = await client.skills.put(name, file);
      tell(`${visibleName(name)} has version ${version}.`);
      reload();
    });
  const remove = (skill: ListedSkill): void =>
    postpone({
      key: keyOf(skill),
      text: `The skill ${skill.name} was deleted.`,
      action: () => client.skills.delete(skill.name),
    });

  const skills = value?.filter((skill) => !gone.has(keyOf(skill)));
  const add = mayWrite && (
    <button className="button primary" type="button" onClick={() => chooser.current?.click()}>
      <Icon name="upload" />
      Upload a skill
    </button>
  );
  return (
    <div className="page">
      <MemoryHead current="skills">{skills !== undefined && skills.length > 0 && add}</MemoryHead>
      <input
        ref={chooser}
        type="file"
        hidden
        accept=".zip"
        aria-label="Archive of a skill"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) void upload(file);
          currentTarget.value = "";
        }}
      />
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {skills === undefined && error === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {skills?.length === 0 && (
        <Empty
          title="No skills yet."
          text="A skill is a folder with instructions, files and scripts that an agent loads when a task needs it. Upload it as a zip archive with the name of the skill."
        >
          {add}
        </Empty>
      )}
      {skills !== undefined && skills.length > 0 && (
        <ul className="items" aria-label="Skills">
          {skills.map((skill) => (
            <SkillEntry
              key={skill.name + skill.hash}
              skill={skill}
              onDelete={mayWrite ? () => remove(skill) : undefined}
            />
          ))}
        </ul>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          <Icon name="down" />
          Show more
        </button>
      )}
    </div>
  );
}
