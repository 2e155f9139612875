// A human answers in the middle of a run. Here the answers are prepared; a program would read them from
// its user. In a Durable Object the run waits for them, for days if need be.
import {
  type Answer,
  AssistantAgent,
  printStream,
  type Question,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  runStream,
  TextMentionTermination,
  UserProxyAgent,
} from "troupe";

const guide = new AssistantAgent({
  name: "guide",
  modelClient: new ReplayChatCompletionClient([
    "Three days in Lisbon, by train. Shall I book it?",
    "Then by night train, four days. Shall I book it?",
  ]),
});
const team = new RoundRobinGroupChat([guide, new UserProxyAgent({ name: "traveller" })], {
  terminationCondition: new TextMentionTermination("yes", { sources: ["traveller"] }),
});

const replies = ["no, I would rather sleep on the way", "yes"];
function answer(question: Question): Promise<Answer> {
  const content = replies.shift() ?? "yes";
  process.stdout.write(`(${question.source} is asked and says: ${content})\n`);
  return Promise.resolve({ content });
}

await printStream(runStream(team, { task: "Plan a trip to Lisbon.", answer }), {
  write: (text) => process.stdout.write(text),
});
