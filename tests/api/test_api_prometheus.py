"""What Prometheus reads, and who else may."""

from __future__ import annotations

import re

from apiclient import Api, Hire, Sign

from footplate.testing.fake_engine import FakeTasks

LINE = re.compile(r'[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)*\})? -?[0-9.e+-]+(inf|nan)?')


def scraped(api: Api) -> dict[str, float]:
    answer = api.http.get(f"{api.served.url}/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    values = {}
    for line in answer.text.splitlines():
        if not line.startswith("#"):
            assert LINE.fullmatch(line), line
            name, _, value = line.rpartition(" ")
            values[name] = float(value)
    return values


def test_queues_jobs_waits_and_calls_are_counted(admin: Api) -> None:
    before = scraped(admin)
    assert before['footplate_queue_depth{queue="default"}'] == 0
    job = admin.running(cpus=8, name='quoted-"name"'.replace('"', "."))
    waiting = admin.submit(cpus=8)
    now = scraped(admin)
    assert now['footplate_jobs{queue="default",state="RUNNING"}'] == 1
    assert now['footplate_queue_depth{queue="default"}'] == 1
    assert now['footplate_node_cpus{node="fake",of="taken"}'] == 8
    wait = 'footplate_queue_wait_seconds_count{queue="default"}'
    assert now[wait] == before.get(wait, 0) + 1
    calls = 'footplate_api_seconds_count{method="POST",route="/jobs"}'
    assert now[calls] == before.get(calls, 0) + 2
    assert now["footplate_scheduling_pass_seconds_count"] > 0
    admin.finish(job)
    admin.until(job, "SUCCEEDED")
    # Of those that are stopped, one has run, and one has not.
    admin.until(waiting, "RUNNING")
    for one in (admin.submit(cpus=8), waiting):
        admin.ok("POST", f"/jobs/{one['id']}/stop")
        admin.until(one, "STOPPED")
    now = scraped(admin)
    for state, n_ended in {"SUCCEEDED": 1, "STOPPED": 2}.items():
        ended = f'footplate_jobs_ended_total{{queue="default",state="{state}"}}'
        assert now[ended] == before.get(ended, 0) + n_ended


def test_figures_are_for_admins_only(admin: Api, hire: Hire, nobody: Api, sign: Sign) -> None:
    at = f"{admin.served.url}/metrics"
    assert nobody.http.get(at).status_code == 401
    assert hire(default="admin").http.get(at).status_code == 403
    job = admin.running()
    engine = admin.served.engine
    assert isinstance(engine, FakeTasks)
    token = engine.world.requests[f"{job['id']}.0"]["tasks"][0]["env"]["FOOTPLATE_TOKEN"]
    assert sign(token).http.get(at).status_code == 403
