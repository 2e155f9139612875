// The shell returns the output of a script when the script has ended, with errors apart. To stream it in order, and to keep it
// after a timeout, each command that writes to the output of the script is redirected to a path that prints. Commands inside
// functions and substitutions, and all but the last command of a pipeline, are not changed.

import type { Bash, PipelineNode, StatementNode } from "just-bash";
import { OUTPUT } from "./shell-files.ts";

type Plugin = Parameters<Bash["registerTransformPlugin"]>[0];
type Command = PipelineNode["commands"][number];
type Redirection = Exclude<Command, { type: "FunctionDef" }>["redirections"][number];

/** For one script; scripts that it runs are not changed. */
export function directOutput(): Plugin {
  let done = false;
  return {
    name: "output",
    transform({ ast }) {
      // A script that redirects itself permanently is not changed.
      if (!done && !ast.statements.some(redirectsItself)) direct(ast.statements);
      done = true;
      return { ast };
    },
  };
}

function direct(statements: StatementNode[]): void {
  for (const { pipelines } of statements)
    for (const { commands, pipeStderr } of pipelines)
      commands.forEach((command, at) => {
        if (commands.length > 1) {
          const last = at === commands.length - 1;
          if (last) redirect(command, [1, 2]);
          else if (pipeStderr?.[at] !== true) redirect(command, [2]);
        } else if (!directInside(command)) redirect(command, [1, 2]);
      });
}

/** Redirects the commands inside a compound command. False for a simple command. */
function directInside(command: Command): boolean {
  if (command.type === "SimpleCommand" || command.type === "FunctionDef") return false;
  const bodies = bodiesOf(command);
  if (bodies.length === 0 || command.redirections.some(isOutput)) return false;
  for (const body of bodies) direct(body);
  return true;
}

function bodiesOf(command: Command): StatementNode[][] {
  switch (command.type) {
    case "If":
      return [
        ...command.clauses.flatMap(({ condition, body }) => [condition, body]),
        ...(command.elseBody === null ? [] : [command.elseBody]),
      ];
    case "While":
    case "Until":
      return [command.condition, command.body];
    case "For":
    case "CStyleFor":
    case "Subshell":
    case "Group":
      return [command.body];
    case "Case":
      return command.items.map(({ body }) => body);
    case "SimpleCommand":
    case "FunctionDef":
    case "ArithmeticCommand":
    case "ConditionalCommand":
      return [];
  }
}

function redirect(command: Command, descriptors: number[]): void {
  // An assignment prints nothing, and with a redirection it would not set a variable of the script.
  if (command.type === "FunctionDef" || (command.type === "SimpleCommand" && command.name === null))
    return;
  command.redirections.unshift(...descriptors.map(toOutput));
}

function toOutput(fd: number): Redirection {
  return {
    type: "Redirection",
    fd,
    operator: ">>",
    target: { type: "Word", parts: [{ type: "Literal", value: OUTPUT }] },
  };
}

function isOutput({ operator }: Redirection): boolean {
  return operator.includes(">");
}

function redirectsItself({ pipelines }: StatementNode): boolean {
  return pipelines.some(({ commands }) =>
    commands.some((command) => {
      if (command.type !== "SimpleCommand")
        return bodiesOf(command).some((body) => body.some(redirectsItself));
      const [name] = command.name?.parts ?? [];
      return name?.type === "Literal" && name.value === "exec" && command.redirections.length > 0;
    }),
  );
}
