"""The simulation of a crowd is right where theory knows the answer, and agrees with the formulas of docs/scaling.md."""

from __future__ import annotations

from dataclasses import replace
from math import factorial

import pytest

from bench.capacity import Costs, Crowd, Site, carried, utilisation
from bench.simulating import Simulation

FREE = Costs(**dict.fromkeys(Costs.__dataclass_fields__, 0.0))
# One send a second in the hour that is simulated.
ONE_A_SECOND = Crowd(people=3600, sends_a_day=1.0, pages_a_send=0.0, tabs=0.0, open_share=0.0)
ALL_DAY = 1.0


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_slots_of_an_endpoint_are_waited_for_as_erlang_says() -> None:
    """M/M/c: eight sends a second, replies of a second, ten slots."""
    offered, servers = 8.0, 10
    site = Site(1, 1, slots=servers, first_token_seconds=0.0, tokens_a_second=1.0)
    crowd = replace(ONE_A_SECOND, sends_a_day=offered, reply_tokens=1.0)

    outcome = Simulation(crowd, site, FREE, share_of_day=ALL_DAY).run(seconds=2_500, warm_up=100)

    last = offered**servers / factorial(servers) * servers / (servers - offered)
    must_wait = last / (sum(offered**k / factorial(k) for k in range(servers)) + last)
    assert mean(outcome.waited_for_slot) == pytest.approx(must_wait / (servers - offered), rel=0.15)
    assert outcome.used["endpoint"] == pytest.approx(0.8, rel=0.05)


def test_core_of_a_process_is_shared_as_theory_says() -> None:
    """M/G/1, shared evenly: at 70 % of a core what takes 0.7 s alone takes 0.7 / 0.3 s."""
    site = Site(1, 1, slots=10, first_token_seconds=0.0, tokens_a_second=1.0)
    crowd = replace(ONE_A_SECOND, reply_tokens=0.0)

    outcome = Simulation(crowd, site, replace(FREE, send=0.7), share_of_day=ALL_DAY).run(seconds=20_000, warm_up=500)

    assert mean(outcome.added) == pytest.approx(0.7 / 0.3, rel=0.1)
    assert outcome.used["processes"] == pytest.approx(0.7, rel=0.05)


def test_simulated_use_is_that_of_the_formulas() -> None:
    crowd, site = Crowd(people=400), Site(2, 1, slots=50)

    outcome = Simulation(crowd, site, Costs()).run(seconds=3_000)

    for name, used in utilisation(crowd, site, Costs()).items():
        assert outcome.used[name] == pytest.approx(used, rel=0.15), name


def test_same_seed_is_the_same_crowd() -> None:
    runs = [Simulation(Crowd(people=200), Site(2, 1, 50), Costs(), seed=seed).run(seconds=300) for seed in (1, 1, 2)]
    assert runs[0].first_token == runs[1].first_token
    assert runs[0].first_token != runs[2].first_token


def test_what_runs_out_first_is_named() -> None:
    many, limit = carried(Crowd(), Site(8, 4, slots=10_000), Costs())
    assert limit == "processes"
    assert carried(Crowd(), Site(16, 8, slots=10_000), Costs())[0] == pytest.approx(2 * many, rel=0.01)
    assert carried(Crowd(), Site(8, 4, slots=5), Costs())[1] == "endpoint"
