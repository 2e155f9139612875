import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Remembers what it is told (`+ 12`: remember, `- 12`: forget) and kills all that it remembers when its input ends. The input
 * ends with the process at its other end, however that one ends.
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
 * Makes sure that a child process does not outlive this one, which may be killed without notice: code that never ends would run
 * for as long as the machine does. `group`: with all processes of the group that the child leads.
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

/** A group of its own, so that what ends this one does not end the guard. */
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
