import type { ComponentModel, JsonObject } from "troupe";
import {
  calculator,
  calls,
  database,
  flights,
  lookUp,
  page,
  papers,
  picture,
  type PythonFunction,
  report,
  scrape,
  search,
  settings,
  stock,
  type ToolCall,
  weather,
} from "./public-tools.ts";

/** The agents that selectors choose first. */
export const FIRST = ["assistant_agent", "research_assistant", "analyst"] as const;

/** A team that has the classes, keys and imports of published ones, in words of our own. */
export interface PublicTeam {
  title: string;
  component: ComponentModel;
  /** A call of each of its Python tools, and a part of what it returns. */
  calls?: readonly ToolCall[];
  /** Where it cannot be loaded here: a part of the reason. */
  refused?: RegExp;
  /** Where its model cannot be called as it is: a part of the reason. */
  lacks?: RegExp;
}

const component = (provider: string, type: string, config: JsonObject): ComponentModel => ({
  provider,
  component_type: type,
  version: 1,
  component_version: 1,
  description: null,
  label: provider.split(".").at(-1) ?? provider,
  config,
});

const model = (config: JsonObject = {}): ComponentModel =>
  component("autogen_ext.models.openai.OpenAIChatCompletionClient", "model", {
    model: "gpt-4o-mini",
    ...config,
  });

const azure = (config: JsonObject): ComponentModel =>
  component("autogen_ext.models.openai.AzureOpenAIChatCompletionClient", "model", {
    model: "gpt-4o-mini",
    azure_deployment: "{your-azure-deployment}",
    api_version: "2024-06-01",
    ...config,
  });

const tool = ({ name, source, imports = [] }: PythonFunction): ComponentModel =>
  component("autogen_core.tools.FunctionTool", "tool", {
    source_code: source,
    name,
    description: `The tool ${name}.`,
    global_imports: imports,
    has_cancellation_support: false,
  });

/** As the studio writes tools since its version 0.4.3: in a workbench. */
const inWorkbench = (...tools: PythonFunction[]): JsonObject => ({
  workbench: [
    component("autogen_core.tools.StaticWorkbench", "workbench", { tools: tools.map(tool) }),
  ],
});

/** As it wrote them before. */
const inList = (...tools: PythonFunction[]): JsonObject => ({ tools: tools.map(tool) });

const assistant = (
  name: string,
  tools: JsonObject = {},
  config: JsonObject = {},
): ComponentModel => ({
  ...component("autogen_agentchat.agents.AssistantAgent", "agent", {
    name,
    model_client: model(),
    model_context: component(
      "autogen_core.model_context.UnboundedChatCompletionContext",
      "chat_completion_context",
      {},
    ),
    description: `The agent ${name}.`,
    system_message: "You help. End with TERMINATE.",
    model_client_stream: false,
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    metadata: {},
    ...tools,
    ...config,
  }),
  version: 2,
  component_version: 2,
});

const ends = component("autogen_agentchat.base.OrTerminationCondition", "termination", {
  conditions: [
    component("autogen_agentchat.conditions.TextMentionTermination", "termination", {
      text: "TERMINATE",
    }),
    component("autogen_agentchat.conditions.MaxMessageTermination", "termination", {
      max_messages: 3,
      include_agent_event: false,
    }),
  ],
});

const roundRobin = (...participants: ComponentModel[]): ComponentModel =>
  component("autogen_agentchat.teams.RoundRobinGroupChat", "team", {
    participants,
    termination_condition: ends,
    emit_team_events: false,
  });

const selector = (
  first: (typeof FIRST)[number],
  ...participants: ComponentModel[]
): ComponentModel =>
  component("autogen_agentchat.teams.SelectorGroupChat", "team", {
    participants,
    model_client: model(),
    termination_condition: ends,
    selector_prompt: `Choose from {participants}: {roles}\n{history}\nOnly the name. Begin with ${first}.`,
    allow_repeated_speaker: true,
    max_selector_attempts: 3,
    emit_team_events: false,
    model_client_streaming: false,
  });

const person = component("autogen_agentchat.agents.UserProxyAgent", "agent", {
  name: "user_proxy",
  description: "A person.",
});

const surfer = component("autogen_ext.agents.web_surfer.MultimodalWebSurfer", "agent", {
  name: "websurfer_agent",
  model_client: model(),
  description: "Opens pages.",
  headless: true,
  start_page: "https://example.com/",
});

const refused = (title: string, part: ComponentModel, reason: RegExp): PublicTeam => ({
  title,
  component: selector("assistant_agent", part, assistant("assistant_agent"), person),
  refused: reason,
});

export const PUBLIC_TEAMS: readonly PublicTeam[] = [
  {
    title: "the studio's first team, with a calculator",
    component: roundRobin(assistant("assistant_agent", inWorkbench(calculator))),
    calls: calls(calculator),
  },
  {
    title: "the same before workbenches",
    component: roundRobin(assistant("assistant_agent", inList(calculator))),
    calls: calls(calculator),
  },
  {
    title: "a selector team with a critic",
    component: selector(
      "assistant_agent",
      assistant("assistant_agent", inWorkbench(calculator)),
      assistant("critic_agent"),
    ),
    calls: calls(calculator),
  },
  {
    title: "the studio's research team (httpx, html2text, beautifulsoup4)",
    component: selector(
      "research_assistant",
      assistant("research_assistant", inWorkbench(search, page)),
      assistant("verifier"),
      assistant("summary_agent"),
    ),
    calls: calls(search, page),
  },
  {
    title: "one agent that searches",
    component: assistant("searcher", inList(search)),
    calls: calls(search),
  },
  {
    title: "a weather agent (requests)",
    component: roundRobin(assistant("weather_agent", inList(weather))),
    calls: calls(weather),
  },
  {
    title: "a painter (openai)",
    component: roundRobin(assistant("painter", inWorkbench(picture))),
    calls: calls(picture),
  },
  {
    title: "a writer of reports (fpdf, pillow, requests)",
    component: roundRobin(assistant("writer", inWorkbench(report))),
    calls: calls(report),
  },
  {
    title: "an analyst of shares (yfinance)",
    component: selector("analyst", assistant("analyst", inList(stock)), assistant("reporter")),
    calls: calls(stock),
  },
  {
    title: "a literature review (arxiv, imported when it is called)",
    component: roundRobin(assistant("reader", inList(papers, search)), assistant("author")),
    calls: calls(papers, search),
  },
  {
    title: "a quiz (wikipedia)",
    component: roundRobin(assistant("asker", inWorkbench(lookUp))),
    calls: calls(lookUp),
  },
  {
    title: "settings from a file (python-dotenv)",
    component: roundRobin(assistant("guide", inList(settings))),
    calls: calls(settings),
  },
  {
    title: "a scraper with a token for cancellation (requests, beautifulsoup4)",
    component: roundRobin(assistant("scraper", inList(scrape))),
    calls: calls(scrape),
  },
  {
    title: "a database of the standard library",
    component: roundRobin(assistant("clerk", inList(database))),
    calls: calls(database),
  },
  {
    title: "a swarm with handoffs",
    component: component("autogen_agentchat.teams.Swarm", "team", {
      participants: [
        assistant("flights_refunder", inList(flights), {
          handoffs: [
            {
              target: "travel_agent",
              description: "Back.",
              name: "transfer_to_travel_agent",
              message: "Transferred.",
            },
          ],
        }),
        assistant("travel_agent"),
      ],
      termination_condition: ends,
    }),
    calls: calls(flights),
  },
  {
    title: "a society of mind around a round robin",
    component: roundRobin(
      component("autogen_agentchat.agents.SocietyOfMindAgent", "agent", {
        name: "society",
        team: roundRobin(assistant("inner", inList(calculator))),
        model_client: model(),
        description: "Thinks inside.",
        instruction: "Earlier you were asked:",
        response_prompt: "Answer alone:",
      }),
    ),
    calls: calls(calculator),
  },
  {
    title: "a redacted key and no secret in its place",
    component: roundRobin(
      assistant("assistant_agent", inWorkbench(calculator), {
        model_client: model({
          base_url: "https://models.example/v1",
          api_key: "**********",
          model_info: {
            vision: false,
            function_calling: true,
            json_output: true,
            family: "unknown",
            structured_output: false,
          },
        }),
      }),
    ),
    lacks: /env:OPENAI_API_KEY/,
  },
  {
    title: "the studio's example of Azure",
    component: roundRobin(
      assistant("assistant_agent", inWorkbench(calculator), {
        model_client: azure({
          azure_endpoint: "https://{your-custom-endpoint}.openai.azure.com/",
          api_key: "test",
        }),
      }),
    ),
    lacks: /azure_endpoint of the model client is a placeholder/,
  },
  {
    title: "a redacted key and a redacted address",
    component: roundRobin(
      assistant("assistant_agent", inList(weather), {
        model_client: azure({ azure_endpoint: "**********", api_key: "**********" }),
      }),
    ),
    lacks: /azure_endpoint of the model client is a placeholder/,
  },
  {
    title: "three agents in turn without tools",
    component: roundRobin(assistant("planner"), assistant("writer"), assistant("editor")),
    calls: [],
  },
  refused("the studio's web agent", surfer, /MultimodalWebSurfer.*HttpTool/),
  {
    title: "a web agent in a round robin",
    component: roundRobin(surfer, person),
    refused: /MultimodalWebSurfer.*HttpTool/,
  },
  refused(
    "a reader of local files",
    component("autogen_ext.agents.file_surfer.FileSurfer", "agent", {
      name: "files",
      model_client: model(),
    }),
    /FileSurfer/,
  ),
  refused(
    "an agent of a class of its own",
    component("my_project.agents.MyAgent", "agent", { name: "own" }),
    /my_project\.agents\.MyAgent/,
  ),
];
