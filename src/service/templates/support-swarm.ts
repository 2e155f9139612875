import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import type { Template } from "../../core/component/template.ts";
import { MaxMessageTermination } from "../../core/conditions/max-message-termination.ts";
import { TextMentionTermination } from "../../core/conditions/text-mention-termination.ts";
import { Swarm } from "../../core/teams/swarm.ts";
import type { Team } from "../../core/teams/team.ts";
import { lazyTemplate } from "./lazy-template.ts";
import { calling, replaying } from "./replay.ts";
import { findOrder } from "./tools/find-order.ts";
import { refundOrder } from "./tools/refund-order.ts";

const DESK = [
  "I am sorry to hear that. Let me ask my colleague who knows the orders.",
  calling("desk-1", "transfer_to_orders"),
  "Your refund of 49.90 euros is on its way and arrives within three days. You can keep the lamp for its parts. CLOSED",
];

const ORDERS = [
  calling("orders-1", "find_order", { order: "A7" }),
  "It is order A7: one desk lamp, delivered four days ago, so it can still be refunded.",
  calling("orders-2", "transfer_to_refunds"),
];

const REFUNDS = [
  calling("refunds-1", "refund_order", {
    order: "A7",
    amount: 49.9,
    currency: "EUR",
    reason: "It arrived broken.",
  }),
  "Refunded. The desk can tell the customer.",
  calling("refunds-2", "transfer_to_desk"),
];

/** Agents that hand a customer over to each other. */
export function supportSwarm(): Template {
  return lazyTemplate(
    {
      name: "support_swarm",
      description:
        "A Swarm with handoffs: the desk hands a customer over to orders, orders to refunds, and refunds back to the desk. They call tools on the way. Works without a model: the agents repeat prepared texts.",
      task: "The lamp of my order A7 arrived broken.",
    },
    team,
  );
}

function team(): Team {
  const desk = new AssistantAgent({
    name: "desk",
    description: "Speaks with the customer.",
    systemMessage: "You speak with customers. Hand over to a colleague for orders and refunds.",
    modelClient: replaying(DESK),
    modelClientStream: true,
    handoffs: ["orders", "refunds"],
  });
  const orders = new AssistantAgent({
    name: "orders",
    description: "Finds orders.",
    systemMessage: "You find the order and say whether it can be refunded.",
    modelClient: replaying(ORDERS),
    modelClientStream: true,
    tools: [findOrder],
    handoffs: ["desk", "refunds"],
  });
  const refunds = new AssistantAgent({
    name: "refunds",
    description: "Refunds orders.",
    systemMessage: "You refund orders and hand over to the desk.",
    modelClient: replaying(REFUNDS),
    modelClientStream: true,
    tools: [refundOrder],
    handoffs: ["desk"],
  });
  return new Swarm([desk, orders, refunds], {
    terminationCondition: new TextMentionTermination("CLOSED", { sources: ["desk"] }).or(
      new MaxMessageTermination(30),
    ),
  });
}
