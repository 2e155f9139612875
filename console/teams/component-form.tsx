import { type DragEvent, type FormEvent, useMemo, useState } from "react";
import { useTroupe } from "troupe/react";
import { useLocation } from "wouter";
import { Problem } from "../parts/problem.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { visibleName } from "../text/foreign.ts";
import { galleryIn } from "./gallery.ts";
import { Mistakes } from "./mistakes.tsx";
import { useValidation } from "./use-validation.ts";

/** Creates a team from component JSON that is pasted, typed or dropped. Mistakes are shown while typing. */
export function ComponentForm() {
  const client = useTroupe();
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  const [label, setLabel] = useState("");
  const [dragging, setDragging] = useState(false);
  const validation = useValidation(text);
  const gallery = useMemo(() => galleryIn(text), [text]);
  const task = useButtonAction();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { component } = validation;
    if (component === undefined) return;
    void task.run(async () => {
      const { id } = await client.teams.create({ component, label: label || null });
      navigate(`/teams/${id}`);
    });
  };
  const drop = async (event: DragEvent): Promise<void> => {
    event.preventDefault();
    setDragging(false);
    const [file] = event.dataTransfer.files;
    setText(file === undefined ? event.dataTransfer.getData("text") : await file.text());
  };

  return (
    <form className="component-form" onSubmit={submit}>
      <label className="field">
        <span>Component JSON from AutoGen's dump_component() or AutoGen Studio</span>
        <textarea
          className="code"
          rows={14}
          spellCheck={false}
          required
          data-dragging={dragging}
          placeholder="Paste JSON, or drop a file"
          value={text}
          aria-describedby="mistakes"
          aria-invalid={validation.mistakes.length > 0}
          onChange={(event) => setText(event.target.value)}
          onDragOver={(event) => {
            event.preventDefault();
            setDragging(true);
          }}
          onDragLeave={() => setDragging(false)}
          onDrop={(event) => void drop(event)}
        />
      </label>
      {validation.json !== undefined && (
        <div className="buttons">
          <button className="button" type="button" onClick={() => setText(validation.json ?? text)}>
            Change it to JSON
          </button>
        </div>
      )}
      {gallery === undefined ? (
        <Mistakes id="mistakes" validation={validation} />
      ) : (
        <div id="mistakes" className="stack">
          <p>This is an AutoGen Studio gallery. Choose a team or an agent:</p>
          <div className="other-ways">
            {gallery.map(({ name, component }, index) => (
              <button
                key={index}
                className="button"
                type="button"
                onClick={() => {
                  setText(JSON.stringify(component, null, 2));
                  setLabel(name);
                }}
              >
                {visibleName(name)}
              </button>
            ))}
          </div>
        </div>
      )}
      <label className="field">
        <span>Label (optional)</span>
        <input value={label} maxLength={200} onChange={(event) => setLabel(event.target.value)} />
      </label>
      <Problem error={task.error} />
      <div className="buttons">
        <button
          className="button primary"
          disabled={validation.component === undefined || gallery !== undefined || task.busy}
          aria-busy={task.busy}
        >
          Create team
        </button>
      </div>
    </form>
  );
}
