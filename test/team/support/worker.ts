import type { ChatAgent, ComponentModel, RequestUsage, Runnable, Team } from "troupe";
import {
  agentRunnable,
  ComponentRegistry,
  coreComponents,
  mcpComponents,
  sandboxComponents,
} from "troupe";
import type { FormatCode, MakeEncoder } from "#contract/stream/stream-format.ts";
import type { LogEntry } from "#core/log.ts";
import type { MemoryDelivery, MemoryOfTeam } from "#contract/gateways/memory-gateway.ts";
import { TroupeMemory } from "#memory/object/memory-object.ts";
import type { MemoryEnv } from "#memory/object/memory-parts.ts";
import { ONE_OWNER, type SecretOwners } from "#secrets/kept-secrets.ts";
import { TroupeTeam } from "#team/object/team-object.ts";
import { TroupeTenant } from "#tenant/object/tenant-object.ts";
import type { SendResult } from "#tenant/webhooks/dispatcher.ts";
import type { PushBody, RunChange } from "#contract/stream/run-change.ts";
import type { SignedRequest } from "#tenant/webhooks/signing.ts";
import { TestCodeExecutor } from "../../core/support/code-executor.ts";
import { catalog } from "./catalog.ts";
import { deliveries } from "./deliveries.ts";
import { noteObject } from "./last-object.ts";
import { logged } from "./logged.ts";
import { mcpFetch } from "./mcp.ts";
import { outside } from "./outside.ts";
import { receivers } from "./receiver.ts";
import { releaseSession, sandboxAddress } from "./sandbox.ts";
import { ScriptedAgent } from "./scripted-agent.ts";
import { TallyAgent } from "./tally-agent.ts";
import { TestModel } from "./test-model.ts";

const registry = new ComponentRegistry({ functions: catalog, skills: catalog }).register(
  ...coreComponents(catalog),
  ...sandboxComponents(sandboxAddress),
  ...mcpComponents({ fetch: mcpFetch }),
  ScriptedAgent.component,
  TallyAgent.component,
  TestModel.component,
  TestCodeExecutor.component,
);

/** A team object whose components may hold agents that a test scripts. */
export class ScriptedTeam extends TroupeTeam {
  constructor(ctx: DurableObjectState, bindings: unknown) {
    super(ctx, bindings);
    noteObject(ctx);
  }

  /** A stream then ends when a run waits, and the object can be evicted. */
  protected override idleMs(): number {
    return 0;
  }

  protected override build(component: ComponentModel): Runnable | Promise<Runnable> {
    const runnable = this.#load(component);
    return component.label === UNHURRIED ? unhurried(runnable) : runnable;
  }

  /**
   * Writes the names of frames, and with `ids` also their ids, or the status of the run. Its option `throwsAt` names one that it
   * cannot write, `endsAt` one that it ends with.
   */
  protected override format(): Promise<FormatCode> {
    const makeEncoder: MakeEncoder = (options) => {
      let ended = false;
      return {
        get ended() {
          return ended;
        },
        encode(frame) {
          const { event } = frame;
          if (event === options["throwsAt"]) throw new Error(`cannot write ${event}`);
          ended = event === options["endsAt"];
          if (options["ids"] !== true) return `${event}\n`;
          const status = event === "run" ? frame.data.status : "";
          return `${event} ${"id" in frame ? frame.id : status}\n`;
        },
      };
    };
    return Promise.resolve({ makeEncoder });
  }

  protected override log(entry: LogEntry): void {
    logged.push(entry);
  }

  protected override releaseSession(session: string): Promise<void> {
    return releaseSession(session);
  }

  /** Tokens of the model `priced` cost 1 in and 2 out; no other model has a price. */
  protected override costOf(model: string, tokens: RequestUsage): number | null {
    return model === "priced" ? tokens.prompt_tokens + 2 * tokens.completion_tokens : null;
  }

  #load(component: ComponentModel): Runnable {
    const subject = registry.load<ChatAgent | Team>(component, ["team", "agent"]);
    return "onMessagesStream" in subject ? agentRunnable(subject) : subject;
  }
}

/** Label of a component that takes a moment to be built and to pause, in which other things may happen. */
const UNHURRIED = "unhurried";

async function unhurried(runnable: Runnable): Promise<Runnable> {
  const [onPause, onResume] = [runnable.onPause.bind(runnable), runnable.onResume.bind(runnable)];
  await scheduler.wait(1);
  return Object.assign(runnable, {
    onPause: () => scheduler.wait(1).then(onPause),
    onResume: () => scheduler.wait(1).then(onResume),
  });
}

/** A tenant whose teams are scripted, and so are the receivers of its webhooks. */
export class Tenant extends TroupeTenant {
  protected override publicUrl(): string {
    return "https://troupe.example";
  }

  protected oauth(): never {
    throw new TypeError("no team of this test logs in");
  }

  protected respond(): never {
    throw new TypeError("no client of this test opens a socket");
  }

  protected sendWebhook(request: SignedRequest): Promise<SendResult> {
    return receivers.send(request);
  }

  /** The format `plain` is the change itself. */
  protected override async pushBody(format: string, change: RunChange): Promise<PushBody> {
    if (format !== "plain") return super.pushBody(format, change);
    return { contentType: "application/json", body: JSON.stringify(change) };
  }
}

export default {
  fetch: () => new Response(null, { status: 404 }),
};

/** What is remembered of users and of a tenant. Tests may break what teams deliver. */
export class Memory extends TroupeMemory {
  constructor(ctx: DurableObjectState, bindings: MemoryEnv) {
    super(ctx, {
      ...bindings,
      ...(outside.service && { VECTORIZE: outside.service }),
      ...(outside.above !== undefined && { VECTORIZE_ABOVE: outside.above }),
    });
  }

  async deliverMemories(delivery: MemoryDelivery): Promise<{ number: number }> {
    if (deliveries.fail("before it")) throw new Error("the test says so");
    const { deliverMemories } = TroupeMemory.prototype as unknown as MemoryOfTeam;
    const applied = await deliverMemories.call(this, delivery);
    if (deliveries.fail("after it")) throw new Error("the test says so");
    return applied;
  }

  protected embedding(): Promise<never> {
    return Promise.reject(new TypeError("tests have no embedding client"));
  }

  protected secretOwners(): SecretOwners {
    return ONE_OWNER;
  }
}
