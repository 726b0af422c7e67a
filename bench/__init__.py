"""Measurements that anyone can run again: `make bench`. Figures with what is in them, never a pass or a fail."""
