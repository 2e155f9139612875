export type { Message, MessageSendParams, Task } from "a2a-sdk-03";
export {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "a2a-sdk-03/client";
