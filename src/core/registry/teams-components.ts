import { GraphFlow } from "../teams/graph-flow/graph-flow.ts";
import { SelectorGroupChat } from "../teams/selector/selector-group-chat.ts";
import { MagenticOneGroupChat } from "../teams/magentic-one/magentic-one-group-chat.ts";
import { Swarm } from "../teams/swarm.ts";
import type { AnyComponentDefinition } from "../component/component.ts";

/** Teams whose managers do more than take turns. */
export function furtherTeams(): AnyComponentDefinition[] {
  return [
    GraphFlow.component,
    SelectorGroupChat.component,
    MagenticOneGroupChat.component,
    Swarm.component,
  ];
}
