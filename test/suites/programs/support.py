"""What the programs share: the service, teams to talk to, and the outcomes of their steps."""

import os
import traceback
import uuid

import httpx2

ORIGIN = os.environ["TROUPE_URL"]
KEY = os.environ["TROUPE_KEY"]
TEMPLATE = "template:tools_assistant"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def troupe(method, path, body=None):
    async with httpx2.AsyncClient(base_url=ORIGIN, headers={"authorization": f"Bearer {KEY}"}) as http:
        response = await http.request(method, path, json=body)
        response.raise_for_status()
        return response.json()


async def new_team(label="desk"):
    """A team of one assistant; its id."""
    team = f"t{uuid.uuid4().hex[:12]}"
    await troupe("POST", "/v1/teams", {"id": team, "label": label, "template": "tools_assistant"})
    return team


async def runs_of(team):
    return (await troupe("GET", f"/v1/teams/{team}/runs"))["runs"]


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{text!r} does not contain {part!r}")


async def take(name, step):
    """Takes a step. Its outcome is one line: passed or failed, and its name."""
    try:
        await step
    except Exception:
        traceback.print_exc()
        print(f"failed: {name}", flush=True)
    else:
        print(f"passed: {name}", flush=True)


async def take_all(over_both, over_responses):
    for step in over_both:
        for api in ("responses", "chat"):
            await take(f"{step.__name__} over {api}", step(api))
    for step in over_responses:
        await take(step.__name__, step())
