"""Who asked for the run of a call, for parameters that are annotated RunContext."""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class RunContext:
    id: str
    team: str
    tenant: str
    user: typing.Optional[str] = None
    subject: typing.Optional[str] = None
    metadata: dict = dataclasses.field(default_factory=dict)


def is_run_context(annotation):
    """Whether the annotation is RunContext, Optional[RunContext] or Annotated[RunContext, ...]."""
    if annotation is RunContext:
        return True
    if hasattr(annotation, "__metadata__"):
        return is_run_context(typing.get_args(annotation)[0])
    members = typing.get_args(annotation)
    return len(members) == 2 and RunContext in members and type(None) in members
