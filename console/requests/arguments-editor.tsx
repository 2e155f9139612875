import { Fold } from "../parts/fold.tsx";
import { CodeBlock } from "../text/code-block.tsx";

interface ArgumentsEditorProps {
  text: string;
  /** JSON Schema of the arguments. */
  parameters: object | undefined;
  /** As the model wrote them. */
  before: object;
  onChange: (text: string) => void;
}

/** The arguments of a tool call as JSON, beside what they must be and what they were. */
export function ArgumentsEditor({ text, parameters, before, onChange }: ArgumentsEditorProps) {
  return (
    <div className="stack">
      <label className="field">
        <span>Arguments</span>
        <textarea
          className="code"
          rows={Math.min(14, text.split("\n").length + 1)}
          spellCheck={false}
          autoFocus
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
      <Fold icon="code" title="As the model wrote them" source="">
        <CodeBlock code={JSON.stringify(before, null, 2)} language="json" />
      </Fold>
      {parameters !== undefined && (
        <Fold icon="tool" title="What the tool takes" source="">
          <CodeBlock code={JSON.stringify(parameters, null, 2)} language="json" />
        </Fold>
      )}
    </div>
  );
}
