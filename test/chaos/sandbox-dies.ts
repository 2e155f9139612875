import { freePort } from "../support/ports.ts";
import { Sandbox } from "../support/sandbox.ts";
import { EffectsServer } from "./harness/effects-server.ts";
import type { Place } from "./harness/place.ts";
import { SandboxGate } from "./harness/sandbox-gate.ts";
import { Service } from "./harness/service.ts";
import type { Case } from "./runner.ts";
import { codeRunner, roundRobin } from "./scenarios/components.ts";

const OUTPUT = "5040";
/** It prints that it has begun, and ends some time later. */
const CODE = "echo begun; sleep 1; echo $((1*2*3*4*5*6*7))";
const TASK = `\`\`\`sh\n${CODE}\n\`\`\``;
const WAIT_SECONDS = 180;

/** The sandbox is killed with SIGKILL before or while it runs code, and comes back: the run completes. */
export function sandboxCases(place: Place): Case[] {
  return [
    { name: "a sandbox that is away when code is to run", run: () => trial(place, "before") },
    { name: "a sandbox that dies while it runs code", run: () => trial(place, "while") },
  ];
}

async function trial({ scratch, config }: Place, when: "before" | "while"): Promise<string[]> {
  const settings = { SANDBOX_PORT: String(await freePort()) };
  let sandbox = await Sandbox.start({ settings });
  const effects = new EffectsServer();
  const gate = new SandboxGate(sandbox.url, effects);
  const begun = new Promise<void>((resolve) => {
    effects.onEffect = () => resolve();
  });
  await gate.listen();
  try {
    const reached = { url: gate.url, key: sandbox.key };
    await using service = await Service.start({ scratch, config, sandbox: reached }, []);
    await service.api.createTeam(roundRobin([codeRunner("runner")], 1));
    if (when === "before") await sandbox.kill();
    const { id } = await service.api.startRun(TASK);
    if (when === "while") {
      await begun;
      await sandbox.kill();
    }
    sandbox = await Sandbox.start({ settings });
    const run = await service.api.waitForRun(id, WAIT_SECONDS);
    if (run.status !== "completed")
      return [`the run is ${run.status}: ${JSON.stringify(run.error)}`];
    const messages = JSON.stringify(await service.api.messages());
    return messages.includes(OUTPUT) ? [] : [`the code has not run: ${messages}`];
  } finally {
    await gate.close();
    await sandbox.kill();
  }
}
