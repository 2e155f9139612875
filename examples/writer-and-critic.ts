// Two agents take turns until the critic approves. The replay client stands in for a model:
// put an OpenAIChatCompletionClient in its place for a real one.
import {
  AssistantAgent,
  printStream,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  runStream,
  TextMentionTermination,
} from "troupe";

const writer = new AssistantAgent({
  name: "writer",
  systemMessage: "Write one line about the sea. Improve it when you are told how.",
  modelClient: new ReplayChatCompletionClient([
    "The sea is big and blue.",
    "The sea keeps every footprint it erases.",
  ]),
  modelClientStream: true,
});
const critic = new AssistantAgent({
  name: "critic",
  systemMessage: "Say what is weak about the line, or APPROVE.",
  modelClient: new ReplayChatCompletionClient(["Too plain. Surprise me.", "APPROVE"]),
});
const team = new RoundRobinGroupChat([writer, critic], {
  terminationCondition: new TextMentionTermination("APPROVE").or(new MaxMessageTermination(10)),
});

const result = await printStream(runStream(team, { task: "Write about the sea." }), {
  write: (text) => process.stdout.write(text),
});
process.stdout.write(`Stopped: ${result.stop_reason}\n`);
