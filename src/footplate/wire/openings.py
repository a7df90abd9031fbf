"""Services of jobs over REST: programs and ports of tasks that a browser opens."""

from __future__ import annotations

from pydantic import Field

from footplate.wire.body import Body, Text


class OpenService(Body):
    """What to open: `jupyter`, `tensorboard`, `desktop`, or the number of a port."""

    service: Text = Field(min_length=1, max_length=20)
    task: Text | None = Field(None, max_length=80, description="Such as worker-0; the first when absent.")
    others: list[Text] = Field(
        default_factory=list,
        max_length=49,
        description="Jobs of the same owner that TensorBoard shows as well, by id or name.",
    )


class OpeningBody(Body):
    service: str
    task: str = Field(description="Empty for a program of the platform's own, which runs beside jobs.")
    port: int
    is_program: bool = Field(description="Whether the platform started it; else the job listens by itself.")
    jobs: list[str] = Field(description="The jobs that it shows.")


class OpenedBody(OpeningBody):
    url: str = Field(description="Opens it in a browser; good once, for a minute.")
    browser_url: str = Field(
        description="The same at a host name of its own, where there is one: on the server's own machine "
        "below `localhost`, which browsers find and other programs may not."
    )


class OpeningsBody(Body):
    items: list[OpeningBody]
    known: list[str] = Field(description="The programs that can be started.")
