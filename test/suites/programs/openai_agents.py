"""What programs of OpenAI's Agents SDK for Python do, with a team of Troupe as the model.

Each step is a conversation of its own. The model server behind the service answers by rules (../python-programs.ts), so every
answer is known.
"""

import asyncio
import dataclasses

import openai
import pydantic
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIConversationsSession,
    OpenAIProvider,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from agents.mcp import MCPServerStreamableHttp
from openai.types.responses import ResponseTextDeltaEvent

from support import KEY, ORIGIN, PIXEL, TEMPLATE, contains, equal, new_team, runs_of, take_all

NOTE = "data:text/plain;base64,VGhlIG5vdGUu"
APIS = {"responses": OpenAIResponsesModel, "chat": OpenAIChatCompletionsModel}

set_tracing_disabled(True)


def client(key=KEY):
    return openai.AsyncOpenAI(base_url=f"{ORIGIN}/openai/v1", api_key=key, max_retries=2)


def agent(api, model, **settings):
    name = settings.pop("name", "Guide")
    return Agent(name=name, model=APIS[api](model, client()), **settings)


class Place(pydantic.BaseModel):
    city: str
    districts: int


@dataclasses.dataclass
class Locator:
    """A tool of the program that keeps what it was called with."""

    calls: list[bool] = dataclasses.field(default_factory=list)

    @property
    def tool(self):
        @function_tool
        def locate(precise: bool) -> str:
            """Says where the user is."""
            self.calls.append(precise)
            return "Vienna"

        return locate


# Steps for both APIs


async def answer(api):
    team = await new_team()
    result = await Runner.run(agent(api, f"team:{team}", instructions="Be brief."), "Write.")
    equal(result.final_output, "Four little words here.")
    usage = result.context_wrapper.usage
    equal(usage.requests, 1)
    equal(usage.output_tokens, 4)
    equal(usage.total_tokens, usage.input_tokens + usage.output_tokens)


async def answer_of_a_template(api):
    result = await Runner.run(agent(api, TEMPLATE), "Write.")
    equal(result.final_output, "Four little words here.")


async def provider(api):
    team = await new_team()
    models = OpenAIProvider(openai_client=client(), use_responses=api == "responses")
    result = await Runner.run(
        Agent(name="Guide", model=f"team:{team}"), "Write.", run_config=RunConfig(model_provider=models)
    )
    equal(result.final_output, "Four little words here.")


async def function_tools(api):
    team = await new_team()
    locator = Locator()
    result = await Runner.run(agent(api, f"team:{team}", tools=[locator.tool]), "Where am I?")
    equal(result.final_output, "You are in Vienna.")
    equal(locator.calls, [False])
    equal([run["status"] for run in await runs_of(team)], ["completed"])


async def several_calls_at_once(api):
    team = await new_team()
    locator = Locator()
    result = await Runner.run(agent(api, f"team:{team}", tools=[locator.tool]), "Where are both of us?")
    equal(result.final_output, "You are in Vienna.")
    equal(sorted(locator.calls), [False, True])


async def function_tools_of_a_template(api):
    locator = Locator()
    result = await Runner.run(agent(api, TEMPLATE, tools=[locator.tool]), "Where am I?")
    equal(result.final_output, "You are in Vienna.")
    equal(locator.calls, [False])


async def tool_choice(api):
    team = await new_team()
    locator = Locator()
    settings = ModelSettings(tool_choice="required", temperature=0.2, max_tokens=500, parallel_tool_calls=True)
    result = await Runner.run(
        agent(api, f"team:{team}", tools=[locator.tool], model_settings=settings), "Where am I?"
    )
    equal(result.final_output, "You are in Vienna.")


async def approval_by_the_program(api):
    team = await new_team()

    @function_tool(needs_approval=True)
    def locate(precise: bool) -> str:
        """Says where the user is."""
        return "Vienna"

    guide = agent(api, f"team:{team}", tools=[locate])
    asked = await Runner.run(guide, "Where am I?")
    equal([one.name for one in asked.interruptions], ["locate"])
    state = asked.to_state()
    state.approve(asked.interruptions[0])
    result = await Runner.run(guide, state)
    equal(result.final_output, "You are in Vienna.")


async def handoff(api):
    team = await new_team()
    refunds = agent(api, f"team:{team}", name="Refunds", instructions="You refund.")
    desk = agent(api, f"team:{team}", name="Desk", instructions="You receive.", handoffs=[refunds])
    result = await Runner.run(desk, "A refund, please.")
    equal(result.final_output, "Refunded.")
    equal(result.last_agent.name, "Refunds")


async def handoff_to_another_model(api):
    refunds = agent(api, f"team:{await new_team()}", name="Refunds", instructions="You refund.")
    desk = agent(api, f"team:{await new_team()}", name="Desk", handoffs=[refunds])
    result = await Runner.run(desk, "A refund, please.")
    equal(result.final_output, "Refunded.")
    equal(result.last_agent.name, "Refunds")


async def handoff_with_templates(api):
    refunds = agent(api, TEMPLATE, name="Refunds", instructions="You refund.")
    desk = agent(api, TEMPLATE, name="Desk", handoffs=[refunds])
    result = await Runner.run(desk, "A refund, please.")
    equal(result.final_output, "Refunded.")


async def agent_as_tool(api):
    writer = agent(api, TEMPLATE, name="Writer")
    tool = writer.as_tool(tool_name="write", tool_description="Writes.")
    result = await Runner.run(agent(api, TEMPLATE, tools=[tool]), "Let it be written.")
    equal(result.final_output, "It says: Four little words here.")


async def structured_output(api):
    team = await new_team()
    result = await Runner.run(agent(api, f"team:{team}", output_type=Place), "Which place?")
    equal(result.final_output, Place(city="Vienna", districts=23))


async def structured_output_after_a_tool(api):
    team = await new_team()
    locator = Locator()
    guide = agent(api, f"team:{team}", output_type=Place, tools=[locator.tool])
    result = await Runner.run(guide, "Where am I, as a place?")
    equal(result.final_output, Place(city="Vienna", districts=23))
    equal(locator.calls, [False])


async def stream(api):
    team = await new_team()
    guide = agent(api, f"team:{team}", model_settings=ModelSettings(include_usage=True))
    result = Runner.run_streamed(guide, "Write.")
    kinds, deltas, raw = [], [], []
    async for event in result.stream_events():
        kinds.append(event.type)
        if event.type == "raw_response_event":
            raw.append(event.data.type)
            if isinstance(event.data, ResponseTextDeltaEvent):
                deltas.append(event.data.delta)
    equal("".join(deltas), "Four little words here.")
    if len(deltas) < 3:
        raise AssertionError(f"the text came in {len(deltas)} pieces")
    equal(result.final_output, "Four little words here.")
    equal(raw[0], "response.created")
    equal(raw[-1], "response.completed")
    equal(set(kinds), {"agent_updated_stream_event", "raw_response_event", "run_item_stream_event"})
    equal(result.context_wrapper.usage.output_tokens, 4)


async def stream_with_a_tool(api):
    team = await new_team()
    locator = Locator()
    result = Runner.run_streamed(agent(api, f"team:{team}", tools=[locator.tool]), "Where am I?")
    items = []
    async for event in result.stream_events():
        if event.type == "run_item_stream_event":
            items.append(event.name)
    equal(result.final_output, "You are in Vienna.")
    equal([name for name in items if name != "message_output_created"], ["tool_called", "tool_output"])
    equal(locator.calls, [False])


async def stream_with_a_handoff(api):
    team = await new_team()
    refunds = agent(api, f"team:{team}", name="Refunds", instructions="You refund.")
    result = Runner.run_streamed(agent(api, f"team:{team}", name="Desk", handoffs=[refunds]), "A refund, please.")
    agents = [
        event.new_agent.name
        async for event in result.stream_events()
        if event.type == "agent_updated_stream_event"
    ]
    equal(agents, ["Desk", "Refunds"])
    equal(result.final_output, "Refunded.")


async def stream_of_structured_output(api):
    team = await new_team()
    result = Runner.run_streamed(agent(api, f"team:{team}", output_type=Place), "Which place?")
    async for _ in result.stream_events():
        pass
    equal(result.final_output, Place(city="Vienna", districts=23))


async def next_turn_with_the_whole_input(api):
    team = await new_team()
    guide = agent(api, f"team:{team}", instructions="Be brief.")
    first = await Runner.run(guide, "Write.")
    second = await Runner.run(guide, [*first.to_input_list(), {"role": "user", "content": "More."}])
    equal(second.final_output, "More of it.")
    newest, oldest = await runs_of(team)
    equal([message["content"] for message in newest["task"] if message["source"] == "user"], ["More."])
    equal([message["content"] for message in oldest["task"] if message["source"] == "user"], ["Write."])


async def session_of_the_program(api):
    team = await new_team()
    session = SQLiteSession("chat")
    locator = Locator()
    guide = agent(api, f"team:{team}", tools=[locator.tool])
    first = await Runner.run(guide, "Where am I?", session=session)
    equal(first.final_output, "You are in Vienna.")
    second = await Runner.run(guide, "More.", session=session)
    equal(second.final_output, "More of it.")
    equal(len(await runs_of(team)), 2)


async def image_and_file(api):
    team = await new_team()
    parts = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"},
        {"type": "input_file", "filename": "note.txt", "file_data": NOTE},
    ]
    result = await Runner.run(agent(api, f"team:{team}"), [{"role": "user", "content": parts}])
    equal(result.final_output, "A picture and a note.")
    [run] = await runs_of(team)
    [message] = run["task"]
    equal(message["type"], "MultiModalMessage")
    equal(message["content"][0], "What is this?")
    equal(message["content"][1]["data"], PIXEL)
    equal(len(message["content"]), 3)


async def wrong_key(api):
    guide = Agent(name="Guide", model=APIS[api](TEMPLATE, client("wrong")))
    try:
        await Runner.run(guide, "Write.")
    except openai.AuthenticationError as error:
        equal(error.status_code, 401)
        equal(error.code, "invalid_credentials")
        return
    raise AssertionError("a wrong key was accepted")


async def unknown_model(api):
    try:
        await Runner.run(agent(api, "team:none"), "Write.")
    except openai.NotFoundError as error:
        equal(error.code, "model_not_found")
        return
    raise AssertionError("an unknown model was accepted")


async def failed_run(api):
    team = await new_team()
    try:
        await Runner.run(agent(api, f"team:{team}"), "Fail.")
    except openai.BadRequestError as error:
        equal(error.code, "model_bad_request")
    else:
        raise AssertionError("a run that failed has an answer")
    equal([run["status"] for run in await runs_of(team)], ["failed"])


async def failed_run_in_a_stream(api):
    team = await new_team()
    result = Runner.run_streamed(agent(api, f"team:{team}"), "Fail.")
    try:
        async for _ in result.stream_events():
            pass
    except Exception as error:
        contains(str(error), "No such thing")
    else:
        raise AssertionError("a run that failed has an answer")
    equal([run["status"] for run in await runs_of(team)], ["failed"])


# Steps for responses alone


async def previous_response():
    team = await new_team()
    guide = agent("responses", f"team:{team}", instructions="Be brief.")
    first = await Runner.run(guide, "Write.")
    second = await Runner.run(guide, "More.", previous_response_id=first.last_response_id)
    equal(second.final_output, "More of it.")
    equal(len(await runs_of(team)), 2)


async def previous_responses_of_a_template():
    locator = Locator()
    guide = agent("responses", TEMPLATE, tools=[locator.tool])
    first = await Runner.run(guide, "Where am I?", auto_previous_response_id=True)
    equal(first.final_output, "You are in Vienna.")
    second = await Runner.run(guide, "More.", previous_response_id=first.last_response_id)
    equal(second.final_output, "More of it.")
    equal(locator.calls, [False])


# Over chat completions the SDK leaves pictures out.
async def tool_that_returns_a_picture():
    team = await new_team()

    @function_tool
    def locate(precise: bool):
        """Says where the user is."""
        return {"type": "image", "image_url": f"data:image/png;base64,{PIXEL}"}

    result = await Runner.run(agent("responses", f"team:{team}", tools=[locate]), "Where am I?")
    equal(result.final_output, "You see Vienna.")


async def conversation_of_the_server():
    conversation = await client().conversations.create()
    locator = Locator()
    guide = agent("responses", TEMPLATE, tools=[locator.tool])
    first = await Runner.run(guide, "Where am I?", conversation_id=conversation.id)
    equal(first.final_output, "You are in Vienna.")
    result = Runner.run_streamed(guide, "More.", conversation_id=conversation.id)
    async for _ in result.stream_events():
        pass
    equal(result.final_output, "More of it.")
    equal(len(await runs_of(conversation.id)), 2)


# Not over chat completions: the SDK removes the ids of the session's items, without which it cannot send them there.
async def session_of_conversations():
    locator = Locator()
    session = OpenAIConversationsSession(openai_client=client())
    guide = agent("responses", TEMPLATE, tools=[locator.tool])
    first = await Runner.run(guide, "Where am I?", session=session)
    equal(first.final_output, "You are in Vienna.")
    second = await Runner.run(guide, "More.", session=session)
    equal(second.final_output, "More of it.")
    items = await session.get_items()
    equal(
        [item["type"] for item in items if item.get("role") != "assistant"],
        ["message", "function_call", "function_call_output", "message"],
    )
    equal(items[-1]["content"][0]["text"], "More of it.")
    equal(len(await session.get_items(limit=2)), 2)
    popped = await session.pop_item()
    equal(popped["id"], items[-1]["id"])
    equal(len(await session.get_items()), len(items) - 1)
    await session.clear_session()
    equal(await session.get_items(), [])


async def mcp_server():
    team = await new_team(label="writer")
    server = MCPServerStreamableHttp(
        params={"url": f"{ORIGIN}/mcp/teams/{team}", "headers": {"authorization": f"Bearer {KEY}"}},
        client_session_timeout_seconds=30,
    )
    async with server:
        tools = [tool.name for tool in await server.list_tools()]
        contains(tools, "run_writer")
        called = await server.call_tool("run_writer", {"task": "Write."})
        equal(called.content[0].text, "Four little words here.")
        guide = agent("responses", TEMPLATE, mcp_servers=[server])
        result = await Runner.run(guide, "Use the tool run_writer.")
        equal(result.final_output, "It says: Four little words here.")
    equal(len(await runs_of(team)), 2)


BOTH = [
    answer,
    answer_of_a_template,
    provider,
    function_tools,
    several_calls_at_once,
    function_tools_of_a_template,
    tool_choice,
    approval_by_the_program,
    handoff,
    handoff_to_another_model,
    handoff_with_templates,
    agent_as_tool,
    structured_output,
    structured_output_after_a_tool,
    stream,
    stream_with_a_tool,
    stream_with_a_handoff,
    stream_of_structured_output,
    next_turn_with_the_whole_input,
    session_of_the_program,
    image_and_file,
    wrong_key,
    unknown_model,
    failed_run,
    failed_run_in_a_stream,
]
RESPONSES = [
    previous_response,
    previous_responses_of_a_template,
    tool_that_returns_a_picture,
    conversation_of_the_server,
    session_of_conversations,
    mcp_server,
]


asyncio.run(take_all(BOTH, RESPONSES))
