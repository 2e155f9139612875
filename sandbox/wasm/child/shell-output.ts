// The shell gives a script's output when the script has ended, errors apart. To show it while it comes and in its order, and
// not to lose it when the time is over, each command of the script whose output would be the script's gets redirections in
// front of its own: to a path whose bytes are what the block prints. Inside of functions, substitutions and all but the last
// command of a pipeline nothing is changed.

import type { Bash, PipelineNode, StatementNode } from "just-bash";
import { OUTPUT } from "./shell-files.ts";

type Plugin = Parameters<Bash["registerTransformPlugin"]>[0];
type Command = PipelineNode["commands"][number];
type Redirection = Exclude<Command, { type: "FunctionDef" }>["redirections"][number];

/** For one script; those that it runs itself are left as they are. */
export function directOutput(): Plugin {
  let done = false;
  return {
    name: "output",
    transform({ ast }) {
      // A script that redirects itself for good has its own idea of where its output goes.
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

/** Directs the commands that a command is made of, if it is made of such. */
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
  // An assignment has nothing to print, and with a redirection would not be one of the script's variables.
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
