"""How long the supervisor waits before it starts a dead engine again."""

from chatapp.engine import BackOff

back_off = BackOff(first=0.5, longest=4, healthy=60)


def test_pause_after_the_first_death_is_the_first():
    assert back_off.after(0, lived=0.1) == 0.5


def test_pause_doubles_while_the_engine_dies_young():
    assert back_off.after(0.5, lived=1) == 1


def test_pause_never_exceeds_the_longest():
    assert back_off.after(3, lived=1) == 4


def test_pause_begins_afresh_after_a_healthy_run():
    assert back_off.after(4, lived=60) == 0.5
