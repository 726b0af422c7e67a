"""Chats of many messages, put into a server's database: `python -m bench.filling BASE_URL`, as a process with its data.

`python -m bench.filling talk '{"max_tokens": 60}'` makes one empty chat with these options, of the server's own model;
a base URL and a window behind them make it one of a model there.
`python -m bench.filling crowd BASE_URL 20 5` makes five short chats for each of twenty people.

Prints what a caller needs: the session of their owner, and the chats by name.
"""

from __future__ import annotations

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402 (models need Django set up)

from bench.size import sized  # noqa: E402
from chatapp.models import Chat, LanguageModel, Message  # noqa: E402
from tests.factories import fold, make_chat, make_model, make_user  # noqa: E402
from tests.people import signed_in  # noqa: E402

WIDE_WINDOW = 4_000_000
LIVE_AFTER_FOLD = 20
TOKENS_A_TURN = 240

QUESTION = (
    "Question {n}: the harbour office wants a plan for mooring {n} boats before the storm. Which ropes do we need, "
    "who has to be told, and what did we decide about the lamps on the pier last time?"
)
REPLY = """For mooring {n} boats, **three things** matter:

1. Ropes of 12 mm for the small ones and 18 mm for the ferry.
2. A word to the harbour master before {n} minutes past ten.
3. The lamps on the pier stay on, as decided.

| boat | rope | berth |
|---|---|---|
| Tern {n} | 12 mm | 4 |
| Ferry | 18 mm | 1 |

```python
def berths(boats: int) -> list[int]:
    return [boat % 12 for boat in range(boats)]  # {n}
```

The rest can wait until the wind turns; there is a note about it in the log of day {n}, with the names of everybody
who offered to help and the hours at which they are at hand."""


def fill(base_url: str) -> dict[str, object]:
    owner = make_user("ada")
    wide = make_model("scripted", base_url=base_url, window=WIDE_WINDOW)
    unknown = make_model("unmeasured", base_url=base_url)
    chats = {name: make_chat(owner, model=wide) for name in ("short", "streamed")}
    chats["long"] = talk(owner, wide, 2_000, has_usage=True)
    for length in sized((20, 2_000, 10_000), (20, 2_000)):
        chats[f"{length} measured"] = talk(owner, wide, length, has_usage=True)
        chats[f"{length} estimated"] = talk(owner, unknown, length, has_usage=False)
    folded = sized(10_000, 2_000)
    chats[f"{folded} folded"] = talk(owner, wide, folded, has_usage=False)
    fold(chats[f"{folded} folded"], through=folded - LIVE_AFTER_FOLD - 1, summary=REPLY.format(n=1))
    session = signed_in(owner).cookies["sessionid"].value
    return {"session": session, "chats": {name: str(chat.pk) for name, chat in chats.items()}}


def begin_talk(options: str, base_url: str = "", window: str = "0") -> dict[str, object]:
    """Titled by hand: what is measured is the talk."""
    owner, parameters = make_user("ada"), json.loads(options)
    model = make_model("scripted", base_url=base_url, window=int(window)) if base_url else LanguageModel.objects.get()
    chat = make_chat(owner, model=model, titled_by_hand=True, parameters=parameters)
    session = signed_in(owner).cookies["sessionid"].value
    return {"session": session, "chats": {"talk": str(chat.pk)}}


def begin_crowd(base_url: str, people: str, chats_each: str) -> dict[str, object]:
    """A person may have a hundred sockets in a process, so a crowd is of many."""
    model = make_model("scripted", base_url=base_url, window=WIDE_WINDOW)
    chats, sessions = {}, {}
    for person in range(int(people)):
        owner = make_user(f"person{person}")
        session = signed_in(owner).cookies["sessionid"].value
        for number in range(int(chats_each)):
            name = f"{person}/{number}"
            chats[name] = str(make_chat(owner, QUESTION, REPLY, model=model, titled_by_hand=True).pk)
            sessions[name] = session
    return {"session": session, "chats": chats, "sessions": sessions}


def talk(owner: User, model: LanguageModel, length: int, *, has_usage: bool) -> Chat:
    chat = make_chat(owner, model=model)
    newest = Message.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    messages = []
    for position in range(length):
        is_reply = bool(position % 2)
        message = Message(
            pk=newest + 1 + position,
            chat=chat,
            parent_id=newest + position if position else None,
            position=position,
            role=Message.Role.ASSISTANT if is_reply else Message.Role.USER,
            content=(REPLY if is_reply else QUESTION).format(n=position),
        )
        if is_reply:
            message.model_name = model.name
            message.prompt_tokens = TOKENS_A_TURN * (position // 2) + 60 if has_usage else None
            message.completion_tokens = TOKENS_A_TURN - 60 if has_usage else None
        messages.append(message)
    Message.objects.bulk_create(messages, batch_size=1_000)
    return chat


KINDS = {"talk": begin_talk, "crowd": begin_crowd}

if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    print(json.dumps(KINDS[kind](*rest) if kind in KINDS else fill(kind)))
