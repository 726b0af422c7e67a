"""Foldline: a self-hosted web chat that never runs out of room."""

VERSION = "0.1.0"  # the newest heading of CHANGELOG.md
