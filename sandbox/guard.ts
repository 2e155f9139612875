import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Reads process ids (`+ 12` adds, `- 12` removes one) and kills those it has when its input ends. The input ends with the
 * process that writes to it, however that process ends.
 */
const SCRIPT = `
known=' '
while read -r change target; do
  case $change in
    +) known="$known$target " ;;
    -) case $known in *" $target "*) known="\${known%%" $target "*} \${known#*" $target "}" ;; esac ;;
  esac
done
for target in $known; do kill -9 "$target"; done
`;

let guard: ChildProcess | undefined;

/**
 * Kills a child process when this process ends, even if it is killed: otherwise code that never ends would run forever.
 * `group`: kills all processes of the group that the child leads.
 */
export function guardChild(child: ChildProcess, { group = false } = {}): void {
  const { pid } = child;
  if (pid === undefined) return;
  const target = group ? -pid : pid;
  tell(`+ ${target}`);
  child.once("exit", () => tell(`- ${target}`));
}

function tell(line: string): void {
  if (guard === undefined || guard.exitCode !== null) guard = start();
  guard.stdin?.write(`${line}\n`);
}

/** In a group of its own, so that a signal to our group does not end the guard. */
function start(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", SCRIPT], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    env: {},
  });
  child.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  child.unref();
  (child.stdin as Socket | null)?.unref();
  return child;
}
