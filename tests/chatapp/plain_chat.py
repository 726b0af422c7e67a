"""The plan-list model: a chat as a tree of messages, the path that is shown, and a stack of records. Nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from compaction.request import BROKEN_OFF_MARK, GAP_MARK, OPENING_MARK, record_text

OTHER = {"user": "assistant", "assistant": "user"}
LIVE = {"queued", "streaming"}


@dataclass
class Said:
    """One message of the tree."""

    id: int
    parent: int | None
    role: str
    text: str
    status: str = "complete"
    is_pinned: bool = False
    deletion: int = 0  # the command that deleted it, with others perhaps; 0 for none

    @property
    def is_empty(self) -> bool:
        return not self.text or self.deletion > 0 or self.status in LIVE


@dataclass
class Record:
    """What stands for everything up to `through`."""

    id: int
    through: int
    text: str


@dataclass
class PlainChat:
    system_prompt: str
    said: dict[int, Said] = field(default_factory=dict)
    path: list[int] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    def add(self, message: Said) -> None:
        self.said[message.id] = message
        self.path.append(message.id)

    def cut_from(self, message_id: int) -> None:
        self.path = self.path[: self.path.index(message_id)]

    def replace(self, former: Said, message: Said) -> None:
        """Another wording takes its place on the path, and everything below it; the former one ends there."""
        message.is_pinned, former.is_pinned = former.is_pinned, False
        self.said[message.id] = message
        self.path[self.path.index(former.id)] = message.id
        for one in self.said.values():
            one.parent = message.id if one.parent == former.id else one.parent
        for record in self.records:
            record.through = message.id if record.through == former.id else record.through

    def show(self, message_id: int) -> None:
        """The path through that message, down to its newest leaf."""
        up: list[int] = []
        here: int | None = message_id
        while here is not None:
            up.append(here)
            here = self.said[here].parent
        self.path = up[::-1]
        while children := [one.id for one in self.said.values() if one.parent == self.path[-1]]:
            self.path.append(max(children))

    def below(self, message: Said, *, all_of_it: bool) -> list[Said]:
        """What goes with a message: of a user message the replies to it, or else everything that follows."""
        found: list[Said] = []
        for one in self.said.values():
            if one.parent == message.id and (all_of_it or one.role != "user"):
                found += [one, *self.below(one, all_of_it=all_of_it)]
        return found

    @property
    def in_force(self) -> Record | None:
        """The record that reaches furthest on this path; of two that reach as far the later one."""
        valid = [record for record in self.records if record.through in self.path]
        return max(valid, key=lambda record: (self.path.index(record.through), record.id), default=None)

    @property
    def archived(self) -> list[Said]:
        count = self.path.index(self.in_force.through) + 1 if self.in_force else 0
        return [self.said[one] for one in self.path[:count]]

    @property
    def live(self) -> list[Said]:
        return [self.said[one] for one in self.path[len(self.archived) :]]

    @property
    def messages(self) -> list[Said]:
        return [self.said[one] for one in self.path]

    def request(self, *, without: tuple[int, ...] = ()) -> list[dict[str, Any]]:
        """The next request, written down as the rules say it; `without`: ids that are left out by force."""
        record = record_text(self.in_force.text) if self.in_force else ""
        preamble = "\n\n".join(part for part in (self.system_prompt, record) if part)
        turns: list[dict[str, Any]] = []
        for message in self._pinned_turns() + self._live_turns(without):
            if not turns and message["role"] == "assistant":
                turns.append({"role": "user", "content": OPENING_MARK})
            if turns and turns[-1]["role"] == message["role"]:
                turns[-1] = {**message, "content": f"{turns[-1]['content']}\n\n{message['content']}"}
            else:
                turns.append(message)
        return [{"role": "system", "content": preamble}, *turns] if preamble else turns

    def _pinned_turns(self) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = []
        for message in self.archived:
            if message.is_pinned:
                if message.role == (turns[-1]["role"] if turns else "assistant"):
                    turns.append({"role": OTHER[message.role], "content": GAP_MARK})
                turns.append({"role": message.role, "content": message.text})
        if turns and turns[-1]["role"] == "user":
            turns.append({"role": "assistant", "content": GAP_MARK})
        return turns

    def _live_turns(self, without: tuple[int, ...]) -> list[dict[str, Any]]:
        turns = []
        for message in self.live:
            if message.id in without or message.is_empty:
                continue
            is_broken = message.status in {"failed", "interrupted"}
            text = f"{message.text}\n\n{BROKEN_OFF_MARK}" if is_broken else message.text
            turns.append({"role": message.role, "content": text})
        return turns
