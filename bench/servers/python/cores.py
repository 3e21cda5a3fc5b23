"""One core for each process of a server, for settings that pin them."""

from __future__ import annotations

import os
import socket


def take_a_core() -> socket.socket:
    """Takes the first core that no other process of this server has: the name of a socket is the lock, as long as it is held."""
    for core in sorted(os.sched_getaffinity(0)):
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0peer-server-{os.getppid()}-core-{core}")
        except OSError:
            continue
        os.sched_setaffinity(0, {core})
        return lock
    raise RuntimeError("There are more workers than cores.")
