import { useCallback, useState } from "react";
import type { Template } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link, useLocation } from "wouter";
import { Avatar, Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { participantsOf } from "../conversation/participants.ts";
import { kindOf, titleOf } from "./kinds.ts";

/** The templates. One click creates a team. */
export function Templates() {
  const client = useTroupe();
  const [, navigate] = useLocation();
  const { value: templates, error } = useLoaded(useCallback(() => client.templates(), [client]));
  const task = useButtonAction();
  const [chosen, setChosen] = useState<string>();
  const create = ({ name }: Template): void => {
    setChosen(name);
    void task.run(async () => {
      const { id } = await client.teams.create({
        template: name,
        label: titleOf(name),
        metadata: { template: name },
      });
      navigate(`/teams/${id}`);
    });
  };
  if (error !== undefined) return <Problem error={error} />;
  return (
    <>
      <ul className="templates" aria-busy={templates === undefined}>
        {templates?.map((template) => (
          <li key={template.name}>
            <button
              className="template"
              type="button"
              disabled={task.busy}
              aria-busy={task.busy && chosen === template.name}
              onClick={() => create(template)}
            >
              <span className="template-head">
                <strong>
                  <Name name={titleOf(template.name)} />
                </strong>
                <People template={template} />
              </span>
              <span className="muted">{template.description}</span>
              <span className="template-kind muted">
                {kindOf(template.component["provider"] as string)}
              </span>
            </button>
            <Link
              className="template-change"
              href={`/new-team?template=${encodeURIComponent(template.name)}`}
              aria-label={`Customize: ${titleOf(template.name)}`}
            >
              Customize
            </Link>
          </li>
        ))}
      </ul>
      <Problem error={task.error} />
    </>
  );
}

function People({ template }: { template: Template }) {
  return (
    <span className="people">
      {participantsOf(template.component)
        .slice(0, 5)
        .map(({ name }) => (
          <Avatar key={name} source={name} />
        ))}
    </span>
  );
}
