"""What the bodies of requests and answers are made of: checked texts, amounts, messages and refusals."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from footplate.domain.errors import BY_CODE
from footplate.domain.problems import is_writable


def _writable(text: str) -> str:
    if not is_writable(text):
        raise ValueError("not_writable")
    return text


Text = Annotated[str, AfterValidator(_writable)]


Name = Annotated[Text, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]*$")]


QueueName = Annotated[Text, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


Password = Annotated[Text, Field(min_length=8, max_length=256)]


QueueRole = Literal["admin", "member", "viewer"]


LifetimeS = Annotated[int, Field(ge=60, le=10 * 365 * 86400)]


# The framework refuses a verb before any of our errors can be raised.
ERROR_CODES: list[Any] = [*sorted(BY_CODE), "method_not_allowed"]


class Body(BaseModel):
    """A request or answer; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Told(Body):
    """Something said to people: an English text with times in UTC, and what it was made of."""

    message: str
    message_code: str = Field(description="Which sentence it is; `x-messages` lists them all.")
    params: dict[str, Any] = Field(description="Its parameters, by name.")


class ProblemBody(Told):
    path: str


class ErrorBody(Told):
    """What every refused request is answered with."""

    code: str = Field(json_schema_extra={"enum": ERROR_CODES})
    problems: list[ProblemBody] = []
    request_id: str


class Amount(Body):
    """CPUs, memory and GPUs."""

    cpus: float = Field(0, ge=0, le=1_000_000)
    memory_bytes: int = Field(0, ge=0, le=2**60)
    gpus: int = Field(0, ge=0, le=1_000_000)


class Maximum(Body):
    """A cap on CPUs, memory and GPUs; what is absent or null is unlimited, 0 forbids it."""

    cpus: float | None = Field(None, ge=0, le=1_000_000)
    memory_bytes: int | None = Field(None, ge=0, le=2**53)
    gpus: int | None = Field(None, ge=0, le=1_000_000)
