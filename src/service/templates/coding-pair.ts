import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import { dumpComponent } from "../../core/component/component.ts";
import type { Template } from "../../core/component/template.ts";
import { TextMentionTermination } from "../../core/conditions/text-mention-termination.ts";
import { codeRunner } from "./code-runner.ts";
import { replaying } from "./replay.ts";

const ANSWERS = [
  `A sieve does it: write down all numbers, and cross out the multiples of each prime.

\`\`\`python
import time

numbers = list(range(2, 100))
primes = []
while numbers:
    prime, *rest = numbers
    primes.append(prime)
    numbers = [number for number in rest if number % prime]
    if len(primes) % 5 == 0:
        print(f"{len(primes):2} found, the last is {prime}", flush=True)
        time.sleep(0.4)
print("primes:", *primes)
\`\`\``,
  "There are **25 primes below 100**, and the last one is 97. After 7 nothing was left to cross out, because 11 × 11 is more than 100. DONE",
];

/** An agent that writes code, and one that runs it. */
export function codingPair({ sandbox }: { sandbox: boolean }): Template {
  const needs = sandbox
    ? "Works without a model: the code is prepared, its output is real."
    : "Needs a sandbox, and this server has none: set SANDBOX_URL.";
  return {
    name: "coding_pair",
    description: `A coder writes Python, a runner runs it in a sandbox and streams the output, and the coder explains the result. ${needs}`,
    task: "Which primes are there below 100?",
    get component() {
      const coder = new AssistantAgent({
        name: "coder",
        description: "Writes Python and explains its output.",
        systemMessage: "You write Python. When you see its output, explain it and say DONE.",
        modelClient: replaying(ANSWERS),
        modelClientStream: true,
      });
      return {
        provider: "autogen_agentchat.teams.RoundRobinGroupChat",
        component_type: "team",
        version: 1,
        component_version: 1,
        config: {
          participants: [dumpComponent(coder), { ...codeRunner({ sandbox }).component }],
          termination_condition: dumpComponent(
            new TextMentionTermination("DONE", { sources: ["coder"] }),
          ),
          max_turns: 10,
        },
      };
    },
  };
}
