// A newsroom: a writer writes until the editor, who is the person at the page, has the text printed.
// npm start -- --config examples/copilotkit/wrangler.toml
import {
  AssistantAgent,
  DiGraphBuilder,
  defineTeam,
  dumpComponent,
  GraphFlow,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  UserProxyAgent,
} from "troupe";
import { createTroupe } from "troupe/worker";

// The replay client stands in for a model: put an OpenAIChatCompletionClient in its place for a real one.
const saying = (name: string, answers: string[]): AssistantAgent =>
  new AssistantAgent({
    name,
    modelClient: new ReplayChatCompletionClient(answers, { cycle: true, chunkDelayMs: 40 }),
    modelClientStream: true,
  });
const writer = saying("writer", [
  "The sea is **big** and blue.",
  "The sea keeps every footprint it erases.",
]);
const editor = new UserProxyAgent({ name: "editor", prompt: "Print it?" });
const printer = saying("printer", ["It is in the paper."]);
const graph = new DiGraphBuilder()
  .addNode(writer)
  .addNode(editor)
  .addNode(printer)
  .addEdge(writer, editor)
  .addEdge(editor, writer, { condition: "again", activationGroup: "again" })
  .addEdge(editor, printer, { condition: "print" })
  .setEntryPoint(writer);
defineTeam({
  name: "newsroom",
  description: "Writes until the editor is content.",
  component: dumpComponent(
    new GraphFlow(graph.getParticipants(), graph.build(), {
      terminationCondition: new MaxMessageTermination(50),
    }),
  ),
});

const troupe = createTroupe();
export class TeamObject extends troupe.TeamObject {}
export class TenantObject extends troupe.TenantObject {}
export class MemoryObject extends troupe.MemoryObject {}
export default { fetch: troupe.fetch };
