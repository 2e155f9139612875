// Teams that start without a request: one for each message of a queue, and one by a cron trigger each morning.
// npm start -- --config examples/queue-and-cron/wrangler.toml
import { AssistantAgent, defineTeam, dumpComponent, ReplayChatCompletionClient } from "troupe";
import { createTroupe, type Env } from "troupe/worker";

interface Ticket {
  id: string;
  text: string;
}

// The replay client stands in for a model: put an OpenAIChatCompletionClient in its place for a real one.
const clerk = (name: string, answer: string): AssistantAgent =>
  new AssistantAgent({ name, modelClient: new ReplayChatCompletionClient([answer]) });
defineTeam({
  name: "clerk",
  description: "Answers a ticket.",
  component: dumpComponent(clerk("clerk", "Thank you, we will look into it.")),
});
defineTeam({
  name: "reporter",
  description: "Writes the report of the morning.",
  component: dumpComponent(clerk("reporter", "All quiet.")),
});

const troupe = createTroupe();
export class TeamObject extends troupe.TeamObject {}
export class TenantObject extends troupe.TenantObject {}
export class MemoryObject extends troupe.MemoryObject {}
const teams = troupe.client("support").teams;

export default {
  fetch: troupe.fetch,

  /** A queue may deliver a message twice: the same idempotency keys find the same team and the same run. */
  async queue({ messages }) {
    for (const message of messages) {
      const { id, text } = message.body;
      const team = await teams.create(
        { template: "clerk", id: `ticket-${id}` },
        { idempotencyKey: message.id },
      );
      await team.start(text, { idempotencyKey: message.id });
      message.ack();
    }
  },

  async scheduled({ scheduledTime }) {
    const day = new Date(scheduledTime).toISOString().slice(0, 10);
    const team = await teams.create(
      { template: "reporter", id: `report-${day}` },
      { idempotencyKey: day },
    );
    await team.start("Write the report.", { idempotencyKey: day });
  },
} satisfies ExportedHandler<Env, Ticket>;
