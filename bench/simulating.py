"""A crowd at a whole installation, event by event: `python -m bench.simulating --people 100000 --processes 40`.

What bench/capacity.py says of means is checked here, and what no mean says is seen: how long a first token takes where
sends come by chance, replies are of all lengths, and everything waits for everything. Seeded, so the same twice.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import count
from typing import Any

import simpy

from bench.capacity import PEAK, Costs, Crowd, Site, carried, quiet_share, utilisation
from bench.table import Line, print_section

SECONDS, WARM_UP = 300.0, 60.0
Steps = Generator[simpy.Event, Any, Any]


class Shared:
    """Cores that all who want them share evenly, none of them more than one: threads of a process, backends.

    By virtual time: each job is given what every job is given, and the one that needs least of it ends first.
    """

    def __init__(self, env: simpy.Environment, cores: float = 1.0) -> None:
        self.env, self.cores = env, cores
        self.busy_seconds = 0.0
        self._given = self._since = 0.0
        self._jobs: list[tuple[float, int, simpy.Event]] = []
        self._numbers, self._plan = count(), 0

    def work(self, seconds: float) -> simpy.Event:
        """Happens once so much of a core's time was had."""
        self._give()
        done = self.env.event()
        heapq.heappush(self._jobs, (self._given + seconds, next(self._numbers), done))
        self._plan_next()
        return done

    def _speed(self) -> float:
        """Of each job: seconds of a core a second."""
        return min(1.0, self.cores / len(self._jobs)) if self._jobs else 0.0

    def _give(self) -> None:
        passed, self._since = self.env.now - self._since, self.env.now
        self._given += passed * self._speed()
        self.busy_seconds += passed * min(self.cores, len(self._jobs))

    def _plan_next(self) -> None:
        self._plan += 1
        if self._jobs:
            plan, seconds = self._plan, max(0.0, self._jobs[0][0] - self._given) / self._speed()
            self.env.timeout(seconds).callbacks.append(lambda _: self._end_first(plan))

    def _end_first(self, plan: int) -> None:
        if plan != self._plan:  # somebody came meanwhile, and all are slower
            return
        self._give()
        heapq.heappop(self._jobs)[2].succeed()
        self._plan_next()


@dataclass
class Outcome:
    """Seconds: of a send until its first token is shown, what of it waited for a slot, what is Foldline's own."""

    used: dict[str, float] = field(default_factory=dict)
    first_token: list[float] = field(default_factory=list)
    waited_for_slot: list[float] = field(default_factory=list)
    added: list[float] = field(default_factory=list)
    database_jobs: float = 0.0


class Simulation:
    def __init__(self, crowd: Crowd, site: Site, costs: Costs, *, share_of_day: float = PEAK, seed: int = 6) -> None:
        self.crowd, self.site, self.costs = crowd, site, costs
        self.rate = crowd.sends_a_second(share_of_day)
        self.chance = random.Random(seed)
        self.env = simpy.Environment()
        left = 1.0 - quiet_share(crowd, site, costs)
        self.processes = [Shared(self.env, left) for _ in range(site.processes)]
        self.database = Shared(self.env, site.database_cores)
        self.layer = Shared(self.env)
        self.slots = simpy.Resource(self.env, site.slots)
        self.slot_seconds = 0.0
        self.outcome = Outcome()

    def run(self, *, seconds: float = SECONDS, warm_up: float = WARM_UP) -> Outcome:
        """Of the seconds after the warm-up."""
        self.warm_up = warm_up
        self.env.process(self._people())
        for _ in self.processes:
            self.env.process(self._rounds())
        self.env.run(warm_up)
        before = self._busy()
        self.env.run(warm_up + seconds)
        after = self._busy()
        most = {"processes": self.site.processes, "PostgreSQL": self.site.database_cores, "Valkey": 1,
                "endpoint": self.site.slots}  # fmt: skip
        self.outcome.used = {name: (after[name] - before[name]) / seconds / most[name] for name in most}
        self.outcome.used["processes"] += quiet_share(self.crowd, self.site, self.costs)
        return self.outcome

    def _busy(self) -> dict[str, float]:
        return {
            "processes": sum(process.busy_seconds for process in self.processes),
            "PostgreSQL": self.database.busy_seconds,
            "Valkey": self.layer.busy_seconds,
            "endpoint": self.slot_seconds,
        }

    def _people(self) -> Steps:
        while True:
            yield self.env.timeout(self.chance.expovariate(self.rate))
            self.env.process(self._turn())
            if self.chance.random() < self.crowd.pages_a_send:
                self.env.process(self._request(self.costs.page, self.costs.database_page))

    def _rounds(self) -> Steps:
        while True:
            yield self.env.timeout(1.0)
            yield self.database.work(self.costs.database_rounds)

    def _request(self, processor: float, database: float) -> Steps:
        yield self.database.work(database)
        yield self.chance.choice(self.processes).work(processor)

    def _turn(self) -> Steps:
        """As docs/architecture.md tells it; the socket of each page is at whichever process."""
        began, costs = self.env.now, self.costs
        process = self.chance.choice(self.processes)
        tabs = [self.chance.choice(self.processes) for _ in range(self._tabs())]
        self._list_anew(len(tabs))
        yield process.work(costs.send)
        yield self.database.work(costs.database_turn)
        asked = self.env.now
        with self.slots.request() as slot:
            yield slot
            taken = self.env.now
            yield self.env.timeout(self.site.first_token_seconds)
            first = self.env.now
            yield process.work(costs.token)
            for tab in tabs[:1]:
                yield tab.work(costs.watched_token)
            self._note(began, asked, taken, first)
            yield from self._write(process, tabs, self._reply_seconds())
            self.slot_seconds += self.env.now - taken
        yield process.work(costs.end)
        self._list_anew(len(tabs))

    def _write(self, process: Shared, tabs: list[Shared], seconds: float) -> Steps:
        """A second of a reply at a time; a process that is late makes the stream no shorter."""
        costs, site = self.costs, self.site
        while seconds > 0:
            part = min(1.0, seconds)
            tokens = part * site.tokens_a_second
            process.work(tokens * costs.token)
            for tab in tabs:
                tab.work(tokens * costs.watched_token)
            if site.processes > 1:
                self.layer.work(part * site.frames_a_second * costs.layer_message)
            self.database.work(part * costs.database_save)
            yield self.env.timeout(part)
            seconds -= part

    def _note(self, began: float, asked: float, taken: float, first: float) -> None:
        if began >= self.warm_up:
            self.outcome.first_token.append(self.env.now - began)
            self.outcome.waited_for_slot.append(taken - asked)
            self.outcome.added.append(asked - began + self.env.now - first)

    def _list_anew(self, tabs: int) -> None:
        for _ in range(tabs):
            self.env.process(self._request(self.costs.listing, self.costs.database_listing))

    def _tabs(self) -> int:
        whole = math.floor(self.crowd.tabs)
        return whole + (self.chance.random() < self.crowd.tabs - whole)

    def _reply_seconds(self) -> float:
        """Short replies are common and long ones rare: exponential about the mean."""
        mean = self.crowd.reply_tokens / self.site.tokens_a_second
        return self.chance.expovariate(1 / mean) if mean else 0.0


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


# Name, cores of the web machines less what system and proxy take, cores of PostgreSQL's machine.
SITES = (
    ("one process", 1, 1),
    ("one machine of 2 cores, all on it", 1, 1),
    ("one machine of 8 cores, all on it", 5, 2),
    ("one machine of 32 cores, all on it", 24, 6),
    ("ten machines of 8 cores, PostgreSQL on one of 16", 80, 16),
    ("ten machines of 32 cores, PostgreSQL on one of 32", 320, 32),
)


def measure(crowd: Crowd = Crowd(), costs: Costs = Costs()) -> Iterator[Line]:  # noqa: B008 (never changed)
    """How many people each site carries in the busiest hour, and how it goes with nine tenths of them."""
    for name, processes, cores in SITES:
        site = Site(processes, cores, slots=1_000_000)
        most, limit = carried(crowd, site, costs)
        yield Line(name, f"{most:,} people", f"by formula; {limit} run out first")
        yield from _told(replace(crowd, people=max(1, round(0.9 * most))), site, costs)


def _told(crowd: Crowd, site: Site, costs: Costs, *, seconds: float = SECONDS) -> Iterator[Line]:
    by_formula = utilisation(crowd, site, costs)
    outcome = Simulation(crowd, site, costs).run(seconds=seconds)
    used = ", ".join(f"{name} {outcome.used[name]:.0%} ({by_formula[name]:.0%})" for name in by_formula)
    yield Line(f"  {crowd.people:,} people", f"{len(outcome.added):,} sends", f"used, by formula in brackets: {used}")
    for what, values in (
        ("first token after", outcome.first_token),
        ("of it waited for a slot", outcome.waited_for_slot),
        ("of it Foldline's own", outcome.added),
    ):
        middle, late = percentile(values, 0.5), percentile(values, 0.99)
        yield Line(f"    {what}", f"{middle * 1000:,.0f} / {late * 1000:,.0f} ms", "median / 99th percentile")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.simulating", description=__doc__)
    for of in (Crowd, Site, Costs):
        for each in fields(of):
            default = {"processes": 40, "database_cores": 8, "slots": 2_000}.get(each.name, each.default)
            kind = int if isinstance(default, int) else float
            parser.add_argument(f"--{each.name.replace('_', '-')}", type=kind, default=default)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = vars(parser.parse_args())
    crowd, site, costs = (of(**{each.name: given[each.name] for each in fields(of)}) for of in (Crowd, Site, Costs))
    print_section("A crowd", _told(crowd, site, costs, seconds=given["seconds"]))


if __name__ == "__main__":
    main()
