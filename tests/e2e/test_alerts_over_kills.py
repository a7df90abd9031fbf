"""Alerts over `kill -9`: none is lost, none is made twice, and what is sent twice has the same id."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

from footplate.testing.process import ServerProcess, await_that
from footplate.testing.receivers import hook_receiver

N_KILLS = int(os.environ.get("FOOTPLATE_TEST_ALERT_KILLS", "6"))
SEED = int(os.environ.get("FOOTPLATE_TEST_SEED", "1"))
JOBS_PER_KILL = 5
SETTINGS = "[node]\ncpus = 16\nmemory = '64GB'\n"


def test_kills_lose_no_alert_and_make_none_twice(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    with (
        hook_receiver() as hook,
        ServerProcess(tmp_path / "home", SETTINGS) as server,
        server.client() as client,
    ):
        answer = client.put("/alerts/settings", json={"private_networks": ["127.0.0.1"]})
        assert answer.status_code == 200, answer.text
        new = {"name": "hook", "kind": "webhook", "address": hook.url}
        assert client.post("/alerts/channels", json=new).status_code == 201
        ids = []
        for round_ in range(N_KILLS):
            for number in range(JOBS_PER_KILL):
                job = {
                    "name": f"job-{round_}-{number}",
                    "command": "true",
                    "cpus": 0.1,
                    "alerts": [{"on": "succeeded"}, {"on": "started", "level": "minor"}],
                }
                made = client.post("/jobs", json=job)
                assert made.status_code == 201, made.text
                ids.append(made.json()["id"])
            # At a moment in which some are told already, some are under way, and some still run.
            wanted = len(hook.posts) + chance.randrange(JOBS_PER_KILL)
            await_that(lambda wanted=wanted: len(hook.posts) >= wanted, 60, "some alerts")
            server.kill()
            server.start()
        expected = {(job_id, word) for job_id in ids for word in ("succeeded", "started")}

        def told() -> set[tuple[str, str]]:
            return {(post.json["job"]["id"], post.json["event"]) for post in hook.posts}

        await_that(lambda: told() >= expected, 60, "all alerts")

        def is_done() -> bool:
            items = client.get("/alerts/deliveries", params={"limit": 500}).json()["items"]
            return {one["state"] for one in items} == {"sent"} and len(items) == len(expected)

        await_that(is_done, 30, "every delivery written as sent, and no more than there were")
        assert told() == expected
        deliveries = {post.headers["X-Footplate-Delivery"] for post in hook.posts}
        assert len(deliveries) == len(expected)
        sent = Counter(post.headers["X-Footplate-Delivery"] for post in hook.posts)
        # Only a letter that was just under way is sent again, and it is counted.
        n_doubles = sum(count - 1 for count in sent.values())
        assert n_doubles <= N_KILLS
        # A letter may be under way in more kills than one; in each of them, only one is.
        numbers: dict[str, list[int]] = {}
        for post in hook.posts:
            attempt = int(post.headers["X-Footplate-Attempt"])
            numbers.setdefault(post.headers["X-Footplate-Delivery"], []).append(attempt)
        assert all(made == sorted(set(made)) and made[0] >= 1 for made in numbers.values()), numbers
        assert sum(made[-1] - 1 for made in numbers.values()) <= N_KILLS, numbers
