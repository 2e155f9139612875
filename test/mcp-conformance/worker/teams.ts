/** A picture of one pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const greeter = agent("greeter", "greet");
const human = {
  provider: "autogen_agentchat.agents.UserProxyAgent",
  component_type: "agent",
  config: { name: "human", description: "Answers.", prompt: "Please answer." },
};

/** The team of each tool of the suite that a team can be. Its tool is `run_` and the name here. */
export const TEAMS: Readonly<Record<string, object>> = {
  greet: inTurn(greeter),
  test_simple_text: inTurn(greeter),
  test_image_content: inTurn(agent("painter", "show")),
  test_audio_content: inTurn(agent("coder", "code"), {
    provider: "autogen_agentchat.agents.CodeExecutorAgent",
    component_type: "agent",
    config: {
      name: "executor",
      code_executor: {
        provider: "troupe.code_executors.SandboxCodeExecutor",
        component_type: "code_executor",
        config: {},
      },
    },
  }),
  test_embedded_resource: inTurn(agent("clerk", "attach")),
  test_multiple_content_types: inTurn(agent("clerk", "attach")),
  test_error_handling: inTurn(agent("failing", "fail")),
  test_tool_with_logging: inTurn(greeter, agent("second", "greet"), agent("third", "greet")),
  test_tool_with_progress: inTurn(greeter, agent("second", "greet"), agent("third", "greet")),
  test_elicitation: inTurn(human),
  test_elicitation_sep1034_defaults: inTurn(
    asker({
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  ),
  test_elicitation_sep1330_enums: inTurn(
    asker({
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: titled("value", 3) },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2"] } },
      titledMulti: { type: "array", items: { anyOf: titled("value", 2) } },
    }),
  ),
  test_input_required_result_elicitation: inTurn(human),
  test_input_required_result_request_state: inTurn(human),
  test_input_required_result_tampered_state: inTurn(human),
  test_input_required_result_multi_round: inTurn(human, other("second")),
  slow_compute: inTurn(agent("computer", "sleep")),
  failing_job: inTurn(agent("failing", "fail")),
  confirm_delete: inTurn(human),
  multi_input: sideBySide(human, other("second")),
};

function agent(name: string, does: string): { config: { name: string } } & object {
  return {
    provider: "conformance.Fixture",
    component_type: "agent",
    config: { name, does },
  } as { config: { name: string; does: string } };
}

function asker(fields: object): object {
  return {
    provider: "conformance.Fixture",
    component_type: "agent",
    config: { name: "asker", does: "ask", fields },
  };
}

function titled(value: string, count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    const: `${value}${index + 1}`,
    title: `Choice ${index + 1}`,
  }));
}

function other(name: string): typeof human {
  return { ...human, config: { ...human.config, name } };
}

function inTurn(...participants: object[]): object {
  return {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    component_type: "team",
    config: { participants, max_turns: participants.length },
  };
}

function sideBySide(...participants: { config: { name: string } }[]): object {
  const nodes = participants.map(({ config: { name } }) => [
    name,
    { name, edges: [], activation: "all" },
  ]);
  return {
    provider: "autogen_agentchat.teams.GraphFlow",
    component_type: "team",
    config: { participants, graph: { nodes: Object.fromEntries(nodes) } },
  };
}
