import { useState } from "react";
import type { GivenTeamTool, TeamClient, TeamTool } from "troupe/client";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { JsonField } from "../inputs/json-field.tsx";

type Schema = GivenTeamTool["input_schema"];

const USUAL: GivenTeamTool = {
  name: "",
  description: "",
  input_schema: {
    type: "object",
    properties: { topic: { type: "string" } },
    required: ["topic"],
  },
  task: "Write about {{ topic }}.",
};

interface OwnToolFormProps {
  team: TeamClient;
  /** The tool to change; undefined for a new one. */
  tool: TeamTool | undefined;
  onClose: () => void;
  onSaved: () => void;
}

export function OwnToolForm({ team, tool, onClose, onSaved }: OwnToolFormProps) {
  const first: GivenTeamTool = tool ?? USUAL;
  const [name, setName] = useState(first.name);
  const [description, setDescription] = useState(first.description);
  const [task, setTask] = useState(first.task);
  const [input, setInput] = useState<unknown>(first.input_schema);
  const [output, setOutput] = useState<unknown>(first.output_schema ?? undefined);
  const submit = async (): Promise<void> => {
    await team.putTool({
      name,
      description,
      task,
      input_schema: input as Schema,
      ...(output !== undefined && { output_schema: output as Schema }),
    });
    onSaved();
  };
  return (
    <FormDialog
      title={tool === undefined ? "New tool" : `Edit ${tool.name}`}
      button={tool === undefined ? "Create tool" : "Save"}
      complete={description.trim() !== "" && task.trim() !== "" && input !== undefined}
      wide
      onSubmit={submit}
      onClose={onClose}
    >
      <label className="field">
        <span>Name (letters, digits, - and _)</span>
        <input
          className="code"
          required
          pattern="[A-Za-z0-9_\-]{1,64}"
          spellCheck={false}
          autoComplete="off"
          data-focus
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <label className="field">
        <span>Description, for the model that chooses among tools</span>
        <textarea
          rows={2}
          required
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
      </label>
      <label className="field">
        <span>Task of a run, with arguments in the places of {"{{ topic }}"}</span>
        <textarea rows={3} required value={task} onChange={({ target }) => setTask(target.value)} />
      </label>
      <JsonField
        path={["input_schema"]}
        label="Schema of the arguments"
        value={input}
        onChange={setInput}
      />
      <JsonField
        path={["output_schema"]}
        label="Schema of the answer, optional"
        value={output}
        onChange={setOutput}
      />
    </FormDialog>
  );
}
