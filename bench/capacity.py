"""What a crowd asks of processes, PostgreSQL, Valkey and endpoint, by formulas alone (in words: docs/scaling.md).

Every figure is an argument, so that anyone can put in their own; the defaults are measured ones (docs/measurements.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

# Share of a day's sends in each hour of an office's day; they make 1.
HOURS = tuple(
    weight / 1000
    for weight in (5, 3, 2, 2, 3, 8, 20, 45, 80, 95, 95, 80, 60, 75, 90, 85, 75, 55, 40, 30, 22, 15, 10, 5)
)
PEAK = max(HOURS)
BUSIEST = 0.95


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of one core: in a process of Foldline, in PostgreSQL and in Valkey."""

    send: float = 0.100  # from the POST until the endpoint is asked
    end: float = 0.044  # the reply stored, its row shown
    token: float = 0.0008  # read, rendered
    watched_token: float = 0.0004  # and sent to one page
    page: float = 0.050
    listing: float = 0.017  # the list of chats, which every page fetches as a run begins and as it ends
    asked: float = 0.0003  # a quiet page's question whether anybody is there
    database_turn: float = 0.012  # all statements of a turn but its saves
    database_save: float = 0.0006
    database_page: float = 0.006
    database_listing: float = 0.002
    database_rounds: float = 0.001  # what a process asks each second of its own accord
    layer_message: float = 0.00004


@dataclass(frozen=True, slots=True)
class Crowd:
    """How people write. `tabs`: pages on a chat while its reply is written; `open_share`: of them, have a page open."""

    people: int = 100_000
    sends_a_day: float = 12.0
    reply_tokens: float = 300.0
    tabs: float = 1.1
    pages_a_send: float = 0.5
    open_share: float = 0.10
    seconds_between_questions: float = 25.0

    def sends_a_second(self, share_of_day: float = PEAK) -> float:
        return self.people * self.sends_a_day * share_of_day / 3600


@dataclass(frozen=True, slots=True)
class Site:
    """`processes` in all; each is one core at most. The endpoint has `slots` replies at once."""

    processes: int
    database_cores: int
    slots: int
    first_token_seconds: float = 0.4
    tokens_a_second: float = 50.0
    frames_a_second: float = 10.0


def seconds_of_reply(crowd: Crowd, site: Site) -> float:
    """In which an endpoint's slot is taken."""
    return site.first_token_seconds + crowd.reply_tokens / site.tokens_a_second


def quiet_share(crowd: Crowd, site: Site, costs: Costs) -> float:
    """Of each process's core, for pages that are only open."""
    return crowd.people * crowd.open_share / crowd.seconds_between_questions * costs.asked / site.processes


def utilisation(crowd: Crowd, site: Site, costs: Costs, *, share_of_day: float = PEAK) -> dict[str, float]:
    """Of each thing that may run out, 1 is all of it: work that comes in a second over what it can do in one."""
    rate = crowd.sends_a_second(share_of_day)
    writing = crowd.reply_tokens / site.tokens_a_second
    turn = (
        costs.send
        + costs.end
        + crowd.reply_tokens * (costs.token + crowd.tabs * costs.watched_token)
        + crowd.pages_a_send * costs.page
        + 2 * crowd.tabs * costs.listing
    )
    database = (
        costs.database_turn
        + writing * costs.database_save
        + crowd.pages_a_send * costs.database_page
        + 2 * crowd.tabs * costs.database_listing
    )
    is_shared = site.processes > 1
    return {
        "processes": rate * turn / site.processes + quiet_share(crowd, site, costs),
        "PostgreSQL": (rate * database + site.processes * costs.database_rounds) / site.database_cores,
        "Valkey": rate * writing * site.frames_a_second * costs.layer_message if is_shared else 0.0,
        "endpoint": rate * seconds_of_reply(crowd, site) / site.slots,
    }


def carried(crowd: Crowd, site: Site, costs: Costs, *, most: float = BUSIEST) -> tuple[int, str]:
    """How many people of this kind fit in the busiest hour, and what runs out first (it is used up to `most`)."""
    low, high = 0, 1
    while max(utilisation(replace(crowd, people=high), site, costs).values()) < most:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        fits = max(utilisation(replace(crowd, people=middle), site, costs).values()) < most
        low, high = (middle, high) if fits else (low, middle)
    used = utilisation(replace(crowd, people=high), site, costs)
    return low, max(used, key=lambda name: used[name])
