import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import type { Template } from "../../core/component/template.ts";
import { withApproval } from "../../core/tools/with-approval.ts";
import { lazyTemplate } from "./lazy-template.ts";
import { calling, replaying } from "./replay.ts";
import { refundOrder } from "./tools/refund-order.ts";

const ANSWERS = [
  calling("clerk-1", "refund_order", {
    order: "A7",
    amount: 499,
    currency: "EUR",
    reason: "It arrived broken.",
  }),
  "The order is settled as you decided, and I have told the customer. Give me the next one when you like.",
  calling("clerk-2", "refund_order", {
    order: "B12",
    amount: 20,
    currency: "EUR",
    reason: "It came two weeks late.",
  }),
  "That one is settled, too, as you decided.",
];

/** An agent whose tool waits for a human's approval. */
export function approvalDesk(): Template {
  return lazyTemplate(
    {
      name: "approval_desk",
      description:
        "A clerk that refunds orders, but only with your approval: the call waits for you, even for days, and you can change its arguments or refuse it. Works without a model: the clerk repeats prepared calls, and nothing is paid.",
      task: "The lamp of order A7, for 49.90 euros, arrived broken. Please refund it.",
    },
    () =>
      new AssistantAgent({
        name: "clerk",
        description: "Refunds orders, with approval.",
        systemMessage: "You refund orders. Say what was done.",
        modelClient: replaying(ANSWERS),
        modelClientStream: true,
        tools: [withApproval(refundOrder)],
        reflectOnToolUse: true,
      }),
  );
}
