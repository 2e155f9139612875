export {
  ScriptedChatCompletionClient,
  type ScriptedReply,
  type ScriptedRequest,
} from "./scripted-chat-completion-client.ts";
