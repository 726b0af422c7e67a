"""Answers of a summariser that are no summary: tool calls as text, error texts, apologies (rules, F)."""

from __future__ import annotations

import json
import re

# An apology or an error is the whole answer; at the head of a longer text such words are part of what is told.
LONGEST_EXCUSE = 600

TOOL_CALL = re.compile(
    r"^\s*(?:<\|?\s*(?:tool_call|function_call|function\s*=|tool▁call)|\[TOOL_CALLS\])", re.IGNORECASE | re.MULTILINE
)
CODE_FENCE = re.compile(r"^\s*```\w*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
APOLOGY = re.compile(
    r"^\W*(?:"
    r"(?:i['’]?m|i am|we are) (?:very |so |really )?(?:sorry|unable|afraid|not able)"
    r"|(?:i['’]?m|i am) (?:always )?(?:here|happy|glad|ready) to (?:help|assist)"
    r"|i(?:['’]d| would|['’]ll| will) be (?:more than )?(?:happy|glad) to (?:help|assist)"
    r"|(?:sure|of course|certainly|hello|hi)?\W*(?:how|what) (?:can|may) i (?:help|assist|do for)"
    r"|sorry\b|my apologies|apologies\b|i apologi[sz]e|unfortunately,? i\b|as an ai\b"
    r"|i (?:can(?:no|['’])t|can not|could(?: not|n['’]t)|do(?: not|n['’]t) (?:have|see))"
    r"|(?:there (?:is|was)|i see) no (?:previous |earlier |prior )?(?:conversation|transcript|text|record)"
    r"|no (?:conversation|transcript|text|record)\b[^.]{0,40}\b(?:given|provided|available|found)"
    r"|(?:please|could you|can you)(?: please)? (?:provide|share|paste|give me) (?:me )?(?:with )?(?:the|a|your|more)\b"
    r"|(?:it )?(?:seems|looks like|appears)(?: that)? (?:you|there|the conversation)\b[^.]{0,40}"
    r"(?:n['’]t\b|\bnot\b|\bno\b|\bempty\b)"
    r"|(?:je suis )?désolée?\b|je (?:ne peux pas|m['’]excuse)"
    r"|(?:es )?tut mir leid|entschuldigung|ich kann (?:leider )?nicht"
    r"|lo siento|no puedo|mi dispiace|desculpe|sinto muito|извините|простите|к сожалению, я"
    r"|很?抱歉|对不起|對不起|申し訳|すみません|죄송|عذرا|أعتذر|آسف)",
    re.IGNORECASE,
)
ERROR = re.compile(
    r"^\W*(?:"
    r"(?:internal |api |server |http |fatal )*(?:error|exception)\b\s*(?:[:\d(]|occurred)"
    r"|traceback \(most recent|an (?:unexpected |internal |unknown )?error (?:has )?occurred"
    r"|(?:http/?[\d.]* )?[45]\d\d[: ]+(?:internal|bad|service|gateway|not found|forbidden|too many|error|server)"
    r"|(?:internal server error|bad gateway|service unavailable|gateway time-?out|too many requests|rate limit)\b)",
    re.IGNORECASE,
)
PAGE = re.compile(r"^\s*(?:<!doctype html|<html\b)", re.IGNORECASE)


def is_tool_call(said: str) -> bool:
    found = _as_object(said).keys()
    is_named = bool({"name", "function", "tool", "tool_calls"} & found)
    has_arguments = bool({"arguments", "parameters", "function", "tool_calls", "tool_input", "input"} & found)
    return bool(TOOL_CALL.search(said)) or (is_named and has_arguments)


def is_error(said: str) -> bool:
    found = _as_object(said)
    is_object = "error" in found or found.get("object") == "error"
    return is_object or bool(PAGE.match(said)) or (len(said) <= LONGEST_EXCUSE and bool(ERROR.match(said)))


def is_apology(said: str) -> bool:
    """An apology, an offer of help, or that there is nothing to sum up, in the languages that models fall back to."""
    return len(said) <= LONGEST_EXCUSE and bool(APOLOGY.match(said))


def _as_object(said: str) -> dict[str, object]:
    """The first JSON object of a text that is nothing but JSON, fenced or not."""
    fence = CODE_FENCE.match(said)
    try:
        found = json.loads(fence[1] if fence else said)
    except (ValueError, RecursionError):
        return {}
    first = found[0] if isinstance(found, list) and found else found
    return first if isinstance(first, dict) else {}
