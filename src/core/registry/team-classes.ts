// Teams whose managers do more than take turns. A class is named here only, as in basic-classes.ts.
export { GraphFlow } from "../teams/graph-flow/graph-flow.ts";
export {
  SelectorGroupChat,
  type SelectorGroupChatOptions,
} from "../teams/selector/selector-group-chat.ts";
export {
  MagenticOneGroupChat,
  type MagenticOneGroupChatOptions,
} from "../teams/magentic-one/magentic-one-group-chat.ts";
export { Swarm } from "../teams/swarm.ts";
