import { type AnyComponentDefinition, componentDefinition } from "../../component/component.ts";
import { AssistantAgent } from "./assistant-agent.ts";
import { type AssistantConfig, assistantConfigSchema, optionsFromConfig } from "./config.ts";

const DESCRIPTION =
  "An assistant that writes Python programs and shell scripts, and answers questions of language and logic.";

/**
 * The instructions of an agent whose JSON has none. A dump that AutoGen wrote has AutoGen's own.
 */
const SYSTEM_MESSAGE = `You solve tasks with language and with code. Whoever reads your answer runs the code in it, sends you its output, and does nothing else: they neither change the code nor complete it.

- Where you need information, such as the content of a file or a page, the date or the system, write code that prints it.
- Where something has to be done, write code that does it and prints what came out.
- Put the code into one block per answer, marked \`python\` or \`sh\`, complete and ready to run. Write no block that is not meant to be run.
- Without a plan, begin with a short one. Say which steps need code and which do not.
- Read the output. After an error, correct the code and send all of it again. If it ran and the task is still open, question your assumptions and try another way.
- Check your result before you give it, and show what confirms it.`;

/**
 * Loads AutoGen's `MagenticOneCoderAgent`, an assistant with instructions for writing code. AutoGen ignores the instructions
 * and tools in its config; here they count. It is dumped as the AssistantAgent that it is.
 */
export const magenticOneCoderAgent: AnyComponentDefinition = componentDefinition<AssistantConfig>({
  ...AssistantAgent.component,
  provider: "autogen_ext.agents.magentic_one.MagenticOneCoderAgent",
  configSchema: assistantConfigSchema,
  fromConfig(config, loader) {
    const { description = DESCRIPTION, system_message } = config;
    return new AssistantAgent({
      ...optionsFromConfig(config, loader),
      description,
      systemMessage: system_message ?? SYSTEM_MESSAGE,
    });
  },
});
