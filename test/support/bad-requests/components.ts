import { agent, SAMPLE_COMPONENT } from "../sample-component.ts";
import { type BadRequest, TEAMS, TEAM, VALIDATE } from "./row.ts";

/** Teams and components. */
export const components: readonly BadRequest[] = [
  ...Object.entries({
    "neither component nor template": [{}, "component"],
    "component and template": [{ component: SAMPLE_COMPONENT, template: "x" }, "component"],
    "a component that is a text": [{ component: "RoundRobinGroupChat" }, "component"],
    "a component that is a list": [{ component: [] }, "component"],
    "an id with a dot": [{ component: SAMPLE_COMPONENT, id: "a.b" }, "id"],
    "an empty id": [{ component: SAMPLE_COMPONENT, id: "" }, "id"],
    "a long id": [{ component: SAMPLE_COMPONENT, id: "a".repeat(65) }, "id"],
    "an id with a line end": [{ component: SAMPLE_COMPONENT, id: "a\n" }, "id"],
    "an id that is a number": [{ component: SAMPLE_COMPONENT, id: 7 }, "id"],
    "a long label": [{ component: SAMPLE_COMPONENT, label: "a".repeat(201) }, "label"],
    "an unknown field": [{ component: SAMPLE_COMPONENT, owner: "me" }, "owner"],
    "a prototype": [JSON.parse('{"__proto__": {"component": {}}}'), "__proto__"],
    "large metadata": [
      { component: SAMPLE_COMPONENT, metadata: { text: "a".repeat(17_000) } },
      "metadata",
    ],
  } as Record<string, [unknown, string]>).map(([name, [json, path]]) => ({
    name: `a team with ${name}`,
    path: TEAMS,
    json,
    status: 422,
    code: "invalid_request",
    errors: [path],
  })),
  {
    name: "an unknown template",
    path: TEAMS,
    json: { template: "no_such_template" },
    status: 422,
    code: "unknown_template",
    errors: ["template"],
  },
  {
    name: "an id that is taken",
    path: TEAMS,
    json: { id: "team", component: SAMPLE_COMPONENT },
    status: 409,
    code: "team_exists",
  },
  ...Object.entries({
    "no provider": [{ config: {} }, "component.provider"],
    "an unknown provider": [{ provider: "os.system", config: {} }, "component.provider"],
    "a provider that is inherited": [{ provider: "constructor", config: {} }, "component.provider"],
    "no config": [{ provider: "RoundRobinGroupChat" }, "component.config"],
    "config that is a list": [{ provider: "RoundRobinGroupChat", config: [] }, "component.config"],
    "no participants": [
      { provider: "RoundRobinGroupChat", config: {} },
      "component.config.participants",
    ],
    "a participant without a name": [
      withParticipants([{ ...agent("a"), config: { ...config("a"), name: undefined } }]),
      "component.config.participants[0].config.name",
    ],
    "a name that is a number": [
      withParticipants([{ ...agent("a"), config: { ...config("a"), name: 7 } }]),
      "component.config.participants[0].config.name",
    ],
    "a model where an agent belongs": [
      withParticipants([config("a")["model_client"]]),
      "component.config.participants[0].provider",
    ],
    "a crowd": [
      withParticipants(Array.from({ length: 51 }, (_, index) => agent(`a${index}`))),
      "component.config.participants",
    ],
    "teams in teams without end": [nested(20), "component"],
    "a password in a URL": [
      withModel({ base_url: "https://user:password@models.example/v1" }),
      "component.config.model_client.config.base_url",
    ],
  } as Record<string, [unknown, string]>).flatMap(([name, [component, path]]) =>
    [TEAMS, VALIDATE].map((address) => ({
      name: `a component with ${name} for ${address}`,
      path: address,
      json: { component },
      status: 422,
      code: "invalid_component",
      errors: [path],
    })),
  ),
  {
    name: "a condition as a team",
    path: TEAMS,
    json: { component: SAMPLE_COMPONENT.config.termination_condition },
    status: 422,
    code: "invalid_component",
    errors: ["component.provider"],
  },
  {
    name: "a condition as the new component of a team",
    method: "PUT",
    path: `${TEAM}/component`,
    json: { component: SAMPLE_COMPONENT.config.termination_condition },
    status: 422,
    code: "invalid_component",
    errors: ["component.provider"],
  },
];

function config(name: string): { [key: string]: unknown } {
  return agent(name)["config"] as { [key: string]: unknown };
}

function withParticipants(participants: unknown[]): unknown {
  return { provider: SAMPLE_COMPONENT.provider, config: { participants } };
}

function withModel(settings: { [key: string]: unknown }): unknown {
  const model_client = {
    provider: "ReplayChatCompletionClient",
    config: { chat_completions: ["a"], ...settings },
  };
  return { ...agent("a"), config: { ...config("a"), model_client } };
}

/** Teams inside each other, shallow enough as JSON. */
function nested(levels: number): unknown {
  let component: unknown = agent("a");
  for (let level = 0; level < levels; level++) component = withParticipants([component]);
  return component;
}
