"""What programs of pydantic-ai do, with a team of Troupe as the model of its OpenAI provider.

Each step is a conversation of its own. The model server behind the service answers by rules (../python-programs.ts), so every
answer is known.
"""

import asyncio
import base64

import pydantic
from pydantic_ai import Agent, BinaryContent, ModelRetry, NativeOutput, PromptedOutput, ToolReturn
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from support import KEY, ORIGIN, PIXEL, TEMPLATE, contains, equal, new_team, runs_of, take_all, troupe

MODELS = {"responses": OpenAIResponsesModel, "chat": OpenAIChatModel}
PICTURE = BinaryContent(base64.b64decode(PIXEL), media_type="image/png")
NOTE = BinaryContent(b"The note.", media_type="text/plain")


def agent(api, name, key=KEY, **settings):
    provider = OpenAIProvider(base_url=f"{ORIGIN}/openai/v1", api_key=key)
    return Agent(MODELS[api](name, provider=provider), **settings)


class Place(pydantic.BaseModel):
    city: str
    districts: int


def locating(guide, result):
    """Gives an agent a tool; the arguments that it was called with."""
    calls = []

    @guide.tool_plain
    def locate(precise: bool):
        """Says where the user is."""
        calls.append(precise)
        return result

    return calls


# Steps for both APIs


async def answer(api):
    result = await agent(api, f"team:{await new_team()}", instructions="Be brief.").run("Write.")
    equal(result.output, "Four little words here.")
    equal(result.usage.output_tokens, 4)


async def answer_of_a_template(api):
    result = await agent(api, TEMPLATE, system_prompt="Be brief.").run("Write.")
    equal(result.output, "Four little words here.")


async def settings_of_models(api):
    settings = {"temperature": 0.1, "max_tokens": 100, "seed": 1, "parallel_tool_calls": True, "openai_user": "bob"}
    team = await new_team()
    result = await agent(api, f"team:{team}", model_settings=settings).run("Write.")
    equal(result.output, "Four little words here.")
    equal([run["user"] for run in await runs_of(team)], ["bob"])


async def tools_and_the_next_turn(api):
    team = await new_team()
    guide = agent(api, f"team:{team}")
    calls = locating(guide, "Vienna")
    first = await guide.run("Where am I?")
    equal(first.output, "You are in Vienna.")
    equal(calls, [False])
    second = await guide.run("More.", message_history=first.all_messages())
    equal(second.output, "More of it.")
    newest, _ = await runs_of(team)
    equal([message["content"] for message in newest["task"] if message["source"] == "user"], ["More."])


async def tools_of_a_template(api):
    guide = agent(api, TEMPLATE)
    calls = locating(guide, "Vienna")
    equal((await guide.run("Where am I?")).output, "You are in Vienna.")
    equal(calls, [False])


async def tool_that_asks_to_try_again(api):
    guide = agent(api, f"team:{await new_team()}")

    @guide.tool_plain(retries=2)
    def locate(precise: bool):
        """Says where the user is."""
        raise ModelRetry("no signal")

    equal((await guide.run("Where am I?")).output, "You are in Vienna.")


async def tool_that_returns_a_picture(api):
    guide = agent(api, f"team:{await new_team()}")
    locating(guide, PICTURE)
    equal((await guide.run("Where am I?")).output, "You see Vienna.")


async def tool_with_something_beside_its_result(api):
    guide = agent(api, f"team:{await new_team()}")
    locating(guide, ToolReturn("Vienna", content=["Seen from the tower:", PICTURE]))
    equal((await guide.run("Where am I?")).output, "You see Vienna.")


async def stream(api):
    deltas = []
    async with agent(api, f"team:{await new_team()}").run_stream("Write.") as result:
        async for delta in result.stream_text(delta=True, debounce_by=None):
            deltas.append(delta)
    equal("".join(deltas), "Four little words here.")
    if len(deltas) < 3:
        raise AssertionError(f"the text came in {len(deltas)} pieces")
    equal(result.usage.output_tokens, 4)


async def stream_with_a_tool(api):
    guide = agent(api, f"team:{await new_team()}")
    locating(guide, "Vienna")
    kinds = []
    async with guide.run_stream_events("Where am I?") as events:
        async for event in events:
            kinds.append(event.event_kind)
    contains(kinds, "function_tool_call")
    contains(kinds, "function_tool_result")
    equal(event.result.output, "You are in Vienna.")


async def native_output(api):
    guide = agent(api, f"team:{await new_team()}", output_type=NativeOutput(Place))
    equal((await guide.run("Which place?")).output, Place(city="Vienna", districts=23))


async def prompted_output(api):
    guide = agent(api, f"team:{await new_team()}", output_type=PromptedOutput(Place))
    equal((await guide.run("Which place?")).output, Place(city="Vienna", districts=23))


async def output_by_a_tool_and_the_next_turn(api):
    team = await new_team()
    guide = agent(api, f"team:{team}", output_type=[Place, str])
    first = await guide.run("Final place.")
    equal(first.output, Place(city="Vienna", districts=23))
    second = await guide.run("More.", message_history=first.all_messages())
    equal(second.output, "More of it.")


async def picture_and_file(api):
    team = await new_team()
    result = await agent(api, f"team:{team}").run(["What is this?", PICTURE, NOTE])
    equal(result.output, "A picture and a note.")
    [run] = await runs_of(team)
    [message] = [message for message in run["task"] if message["type"] == "MultiModalMessage"]
    contains(message["content"], "What is this?")
    contains([part["data"] for part in message["content"] if isinstance(part, dict)], PIXEL)


async def refused(guide, status):
    try:
        await guide.run("Write.")
    except ModelHTTPError as error:
        equal(error.status_code, status)
    else:
        raise AssertionError(f"there was no error {status}")


async def wrong_key(api):
    await refused(agent(api, TEMPLATE, key="wrong"), 401)


async def unknown_model(api):
    await refused(agent(api, "team:none"), 404)


async def failed_run(api):
    team = await new_team()
    try:
        await agent(api, f"team:{team}").run("Fail.")
    except ModelHTTPError as error:
        equal(error.status_code, 400)
        equal(error.body["code"], "model_bad_request")
    else:
        raise AssertionError("a run that failed has an answer")
    equal([run["status"] for run in await runs_of(team)], ["failed"])


# Steps for responses alone


async def previous_response():
    guide = agent("responses", TEMPLATE)
    first = await guide.run("Write.")
    second = await guide.run(
        "More.",
        message_history=first.all_messages(),
        model_settings={"openai_previous_response_id": "auto"},
    )
    equal(second.output, "More of it.")


async def conversation_of_the_server():
    conversation = await troupe("POST", "/openai/v1/conversations", {})
    settings = {"openai_conversation_id": conversation["id"]}
    guide = agent("responses", TEMPLATE, model_settings=settings)
    equal((await guide.run("Write.")).output, "Four little words here.")
    equal((await guide.run("More.")).output, "More of it.")
    equal(len(await runs_of(conversation["id"])), 2)


BOTH = [
    answer,
    answer_of_a_template,
    settings_of_models,
    tools_and_the_next_turn,
    tools_of_a_template,
    tool_that_asks_to_try_again,
    tool_that_returns_a_picture,
    tool_with_something_beside_its_result,
    stream,
    stream_with_a_tool,
    native_output,
    prompted_output,
    output_by_a_tool_and_the_next_turn,
    picture_and_file,
    wrong_key,
    unknown_model,
    failed_run,
]
RESPONSES = [previous_response, conversation_of_the_server]

asyncio.run(take_all(BOTH, RESPONSES))
