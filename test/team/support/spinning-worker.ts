import * as z from "zod";
import { BaseChatAgent, registerComponent, type AgentResponse, type TurnContext } from "troupe";
import app, { MemoryObject, TeamObject, TenantObject } from "troupe/worker";

function spin(): never {
  // oxlint-disable-next-line no-console -- tells the test that this process is lost
  console.log("SPINNING");
  for (;;);
}

/** An agent that never returns: after a step it takes the whole process with it. The one named `caller` does so in a tool, `receiver` when its model answers. */
class SpinningAgent extends BaseChatAgent {
  static readonly component = {
    provider: "test.SpinningAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema: z.object({ name: z.string() }),
    fromConfig: ({ name }: { name: string }) => new SpinningAgent(name, "spins"),
  } as const;

  readonly definition = SpinningAgent.component;
  readonly producedMessageTypes = ["TextMessage"];

  async *onMessagesStream(
    _messages: unknown,
    ctx: TurnContext,
  ): AsyncGenerator<never, AgentResponse> {
    yield* [];
    const spinAfter = (ms: number) => async (): Promise<never> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return spin();
    };
    // The request that starts the run is answered before.
    if (this.name === "caller") {
      await ctx.step("call", spinAfter(5), { kind: "tool", subject: { name: "count_forever" } });
    }
    if (this.name === "receiver") await ctx.step("ask", spinAfter(400), { kind: "model" });
    await ctx.step("look", async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return null;
    });
    return spin();
  }

  onReset(): Promise<void> {
    return Promise.resolve();
  }

  toConfig(): { name: string } {
    return { name: this.name };
  }
}

registerComponent(SpinningAgent.component);

export { MemoryObject, TeamObject, TenantObject };
export default app;
