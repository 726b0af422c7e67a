"""What is counted, in Prometheus' form: names, units and labels are its conventions', and no label names a person.

Each process counts for itself and tells it at its own /metrics; Prometheus adds them up. A count costs under 2 µs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

from django.db import connection
from prometheus_client import REGISTRY, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily

from compaction.transcript import Usage

LAG_SECONDS_BETWEEN = 0.5
METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})

disable_created_metrics()  # when a count began is of no use to anybody and doubles what is told
requests = Counter("foldline_http_requests", "Answered requests, static files apart", ["method", "route", "status"])
request_seconds = Histogram(
    "foldline_http_request_duration_seconds",
    "Until the answer begins",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.3, 1, 3, 10, 30),
)
sockets = Gauge("foldline_sockets", "Open sockets of pages")
frames = Counter("foldline_frames_sent", "Pieces of replies sent to pages")
live_runs = Gauge("foldline_live_runs", "Replies being written by this process")
runs = Counter("foldline_runs", "Replies that have ended", ["outcome"])
first_token_seconds = Histogram(
    "foldline_first_token_seconds",
    "From a run's beginning to its first word or thought",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 180),
)
tokens = Counter("foldline_tokens", "As endpoints report them, or estimated", ["kind", "of"])
compactions = Counter("foldline_compactions", "Compactions that have ended", ["outcome"])
endpoint_failures = Counter("foldline_endpoint_failures", "Calls for replies that failed", ["code"])
loop_lag_seconds = Histogram(
    "foldline_loop_lag_seconds", "How late the event loop is", buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
)


class PoolCollector:
    """Connections to PostgreSQL, asked for when the figures are."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily("foldline_database_pool_connections", "Of this process", labels=["state"])
        waiting = GaugeMetricFamily("foldline_database_pool_waiting", "Requests that wait for a connection")
        pool: Any = getattr(connection, "pool", None) if connection.vendor == "postgresql" else None
        if pool is not None:
            stats = pool.get_stats()
            family.add_metric(["free"], stats.get("pool_available", 0))
            family.add_metric(["used"], stats.get("pool_size", 0) - stats.get("pool_available", 0))
            waiting.add_metric([], stats.get("requests_waiting", 0))
            yield family
            yield waiting


REGISTRY.register(PoolCollector())


def count_request(*, method: str, route: str, status: int, seconds: float) -> None:
    """`route` is the pattern of the address, so that there are as many as patterns and none holds an id."""
    requests.labels(method if method in METHODS else "other", route, status).inc()
    request_seconds.observe(seconds)


def count_tokens(kind: str, usage: Usage) -> None:
    """Cached tokens are part of the prompt's, those of reasoning of the completion's."""
    for of in ("prompt", "completion", "cached", "reasoning"):
        tokens.labels(kind, of).inc(getattr(usage, of) or 0)


async def watch_loop() -> None:
    """Measures for ever how late a sleep ends: what every page and every frame waits for besides."""
    while True:
        began = time.perf_counter()
        await asyncio.sleep(LAG_SECONDS_BETWEEN)
        loop_lag_seconds.observe(max(0.0, time.perf_counter() - began - LAG_SECONDS_BETWEEN))
