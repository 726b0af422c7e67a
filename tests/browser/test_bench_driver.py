"""The driver that measures every product's page, at Foldline's: so that `make bench` doesn't rot unseen."""

import pytest
from django.conf import settings
from playwright.sync_api import Browser, expect

from bench.driving import Running, Window
from bench.endpoint import answer
from bench.products import FOLDLINE
from tests.browser.acting import Script, last, messages
from tests.browser.server_rows import ServerRows
from tests.shapes import Served

pytestmark = [pytest.mark.browser, pytest.mark.server]


def test_driver_opens_sends_and_sees_the_first_character(
    browser: Browser, server: Served, rows: ServerRows, script: Script
) -> None:
    script.will(answer, answer)
    session = {settings.SESSION_COOKIE_NAME: rows.sign_in("benjamin")}
    window = Window(browser, FOLDLINE, Running(server.url, server.processes[0].pid, cookies=session))
    try:
        assert 0 < window.open() < 60
        assert window.bytes_read > 10_000
        window.send(20, rate=100)
        window.wait_for_end(20)
        worked = window.main_thread_seconds()
        window.send(30, rate=100)
        painted = window.first_painted()
        window.wait_for_end(30)

        assert 0 < painted < 60
        assert window.main_thread_seconds() > worked
        expect(messages(window.page)).to_have_count(4)
        expect(last(window.page)).to_have_attribute("data-status", "complete")
    finally:
        window.close()
