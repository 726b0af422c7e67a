"""A person who does what comes to mind and an enemy who breaks something in between, both by one seed.

Whatever is refused because something is away is tried again later, under the same key, as a page does it. At the end
all is mended, and the record is judged: nothing more is known of how it got there.
"""

from __future__ import annotations

import random
import signal
import time
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from tests.damage import LONG, PAST, Record, Watcher, persist, until
from tests.live import LiveServer
from tests.over_http import Caller

REFUSALS = {404, 409, 422}  # a command that can't be carried out as things are
MOST_CHATS = 3


@dataclass
class Nemesis:
    """`breakers`: what takes something away, by its name, and what brings it back."""

    seed: int
    record: Record
    callers: list[tuple[LiveServer, Caller]]
    breakers: dict[str, tuple[Callable[[], object], Callable[[], object]]] = field(default_factory=dict)
    chats: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.numbers = count(1)
        self.unsure: list[Callable[[Caller], object]] = []
        self.broken: dict[str, Callable[[], object]] = {}
        self.pages: list[Watcher] = []
        self._say(new=True)

    def play(self, steps: int, *, breaks: int) -> None:
        """So many things that the person does; the enemy strikes so often in between."""
        strikes = set(self.random.sample(range(1, steps), breaks))
        for step in range(steps):
            if step in strikes:
                self._break()
            elif self.broken and self.random.random() < 0.4:
                self._mend()
            self.random.choice(self._deeds())()
            time.sleep(self.random.random() / 4)  # how far a reply or a summary comes until the next
            if "database" not in self.broken:
                self.record.check()
        self._judge()

    def _deeds(self) -> list[Callable[[], None]]:
        new = [lambda: self._say(new=True)] if len(self.chats) < MOST_CHATS else []
        others = [self._stop, self._compact, self._undo, self._edit, self._send_now]
        return [*new, *[self._say] * 3, *others]

    # The person

    def _chat(self) -> str:
        return self.random.choice(self.chats)

    def _try(self, name: str, do: Callable[[Caller], object], *, must: bool = False) -> None:
        """By a process that runs. `must`: nothing refuses it, and where something is away it is done later."""
        while not (running := [each for server, each in self.callers if f"process {server.port}" not in self.broken]):
            self._mend()
        caller = self.random.choice(running)
        self.story.append(f"{name} at {caller.url[-5:]}")
        try:
            do(caller)
        except urllib.error.HTTPError as refused:
            expected = {503} if must else {503, *REFUSALS}
            if refused.code not in expected:
                raise AssertionError((self.story, refused.code, refused.read().decode()[:3000])) from refused
        except OSError:
            pass
        else:
            return
        if must:
            self.unsure.append(do)

    def _text(self) -> str:
        self.said.append(f"{self.seed}-{next(self.numbers)}: {LONG}")
        return self.said[-1]

    def _say(self, *, new: bool = False) -> None:
        sent = {"text": self._text(), "idempotency_key": f"key-{self.seed}-{len(self.said)}"}
        if new:
            _, path = persist(lambda: self.callers[0][1].post("/chats/", **sent)) if not self.broken else ("", "")
            if path:
                self.chats.append(path)
                self.pages.append(Watcher(self.callers[-1][1], path))
            else:
                self.said.pop()
            return
        chat = self._chat()
        for _ in range(self.random.choice([1, 1, 2])):  # a double click is one message
            self._try("say", lambda caller: caller.post(f"{chat}send/", **sent), must=True)

    def _stop(self) -> None:
        chat = self._chat()
        self._try("stop", lambda caller: caller.post(f"{chat}stop/"))

    def _compact(self) -> None:
        chat = self._chat()
        self._try("compact", lambda caller: caller.post(f"{chat}compact/"))

    def _undo(self) -> None:
        self._on_newest("undo", "compaction", "status = 'applied'", "compactions/{}/undo/")

    def _send_now(self) -> None:
        self._on_newest("send now", "queuedmessage", "1 = 1", "queue/{}/send/")

    def _edit(self) -> None:
        words = {"how": self.random.choice(["answer", "save"]), "text": self._text()}
        words["idempotency_key"] = f"key-{self.seed}-{len(self.said)}"
        self.said.pop()  # whether it is taken hangs on what else goes on
        self._on_newest("edit", "message", "role = 'user' AND active", "messages/{}/edit/", **words)

    def _on_newest(self, name: str, table: str, where: str, address: str, **fields: str) -> None:
        if "database" in self.broken:
            return
        chat = self._chat()
        found = f"SELECT MAX(id) FROM chatapp_{table} WHERE {where} AND chat_id = '{self._id(chat)}'"
        if row := self.record.value(found):
            self._try(name, lambda caller: caller.post(chat + address.format(row), **fields))

    def _id(self, chat: str) -> str:
        given = chat.split("/")[2]
        return given if isinstance(self.record.database, str) else given.replace("-", "")

    # The enemy

    def _break(self) -> None:
        server, _ = self.random.choice(self.callers)
        name = self.random.choice(["kill", "freeze", *self.breakers])
        where = f"process {server.port}" if name in {"kill", "freeze"} else name
        if where in self.broken:
            self._mend()
            return
        self.story.append(f"{name} {where}")
        if name == "kill":
            server.stop(by=signal.SIGKILL)
            self.broken[where] = lambda: server.start(seconds=300)
        elif name == "freeze":
            server.process.send_signal(signal.SIGSTOP)
            self.broken[where] = lambda: server.process.send_signal(signal.SIGCONT)
            if "database" not in self.broken:  # as if it had slept past its leases
                for table, live in (("run", "live"), ("compaction", "running")):
                    mine = f"status = '{live}' AND owner LIKE '%:{server.pid}:%'"
                    self.record.do(f"UPDATE chatapp_{table} SET lease_until = '{PAST}' WHERE {mine}")
        else:
            take, self.broken[where] = self.breakers[name]
            take()

    def _mend(self) -> None:
        name = "database" if "database" in self.broken else self.random.choice(list(self.broken))  # none starts without
        self.story.append(f"mend {name}")
        self.broken.pop(name)()

    # The judge

    def _judge(self) -> None:
        while self.broken:
            self._mend()
        for do in self.unsure:
            persist(lambda do=do: do(self.callers[0][1]))
        until(lambda: not self.record.busy(), seconds=120, why=lambda: self.story)
        self.record.check()
        self.record.check_each_once(self.said)
        for page in self.pages:
            page.check_shows_the_rows()
            page.may_end.set()
