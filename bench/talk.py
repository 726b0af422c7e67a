"""A talk of any length in short messages, each with a value and a name that nobody says again: facts to look for."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = (
    "Lindqvist",
    "Okafor",
    "Marchetti",
    "Yilmaz",
    "Petrova",
    "Nakamura",
    "Delacroix",
    "Brannigan",
    "Castellano",
    "Eriksen",
    "Haddad",
    "Ivanova",
    "Jankowski",
    "Kowalczyk",
    "Lombardi",
    "Mbeki",
    "Novotny",
    "Olafsson",
    "Pereira",
    "Quispe",
    "Rasmussen",
    "Santoro",
    "Takahashi",
    "Ulrichsen",
    "Vasquez",
    "Wojcik",
    "Xenakis",
    "Yamamoto",
    "Zielinski",
    "Abernathy",
    "Bergstrom",
    "Cavendish",
    "Dragomir",
    "Esposito",
    "Fitzroy",
    "Gallagher",
    "Hashimoto",
    "Ishikawa",
    "Johansson",
    "Kruger",
)
ASKED = (
    "{name} brings the ropes for the harbour fair at {hour}:{minute:02}. What should we check first?",
    "The stall of {name} costs EUR {amount} for both days. Is that a fair price?",
    "Please note: {name} can be reached at +49 40 {phone}. When would you call?",
    "{name} wrote to stall{number}@harbour-fair.example about the lamps. How do we answer?",
    "The permit for {name} is HF-{permit}. What else does the office want to see?",
    "{name} wants {weight} kg of ice for the fish. Where do we keep it?",
    "We put the plan for {name} into /plans/fair/berth-{number}.md. What belongs in it?",
    "{name} can only come on 2027-{month:02}-{day:02}. How do we move the others?",
)

ASIDES = (
    "We stood on the pier again this morning and looked at everything once more.",
    "The wind has turned, and the water is calmer than it was last week.",
    "Nobody has complained so far, which is a good sign for all of us.",
    "The old market hall is free, should it rain on one of the two days.",
    "I have told the others that you help me to think about it.",
    "Most of them have been here before and know their way around.",
    "There is still enough time, but not so much that we can wait for ever.",
    "The children are looking forward to it more than anybody else.",
    "Last year we were too late with nearly all of this, as you may imagine.",
    "Somebody always forgets something, and then we laugh about it in the evening.",
    "The harbour master is in a good mood, so this is the moment to ask him.",
)


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the person, and the two facts in it, as they are looked for."""

    text: str
    value: str
    name: str


def said(number: int, *, asides: int = 0) -> Said:
    """The same message for the same number, behind so many sentences that say nothing new.

    Beyond forty the names carry a number, so that each is said once.
    """
    around = number // len(NAMES)
    name = NAMES[number % len(NAMES)] + (f" {around + 1}" if around else "")
    facts = {
        "name": name,
        "hour": 7 + number % 12,
        "minute": (number * 7) % 60,
        "amount": f"{1_000 + 37 * number:,}",
        "phone": f"{3_100 + 13 * number} {210 + number}",
        "number": 20 + number,
        "permit": 4_000 + 29 * number,
        "weight": 40 + 3 * number,
        "month": 5 + number % 7,
        "day": 1 + number % 27,
    }
    form = number % len(ASKED)
    value = (
        "{hour}:{minute:02}",
        "{amount}",
        "{phone}",
        "stall{number}@harbour-fair.example",
        "HF-{permit}",
        "{weight} kg",
        "berth-{number}.md",
        "2027-{month:02}-{day:02}",
    )[form]
    before = " ".join(ASIDES[(number + n) % len(ASIDES)] for n in range(asides))
    return Said(f"{before} {ASKED[form].format(**facts)}".strip(), value.format(**facts), name)
