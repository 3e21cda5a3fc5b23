"""Infinity as several processes: `uvicorn --workers N --factory infinity_workers:create_app`, its settings in INFINITY_… variables.

Infinity has no setting for the threads of onnxruntime, which takes one for each core it may use: a process that may use one
core gets one thread.
"""

from __future__ import annotations

import os
import socket

from fastapi import FastAPI


def take_a_core() -> socket.socket:
    """The first core that no other worker has: the name of a socket is the lock, as long as it is held."""
    for core in sorted(os.sched_getaffinity(0)):
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0infinity-{os.getppid()}-core-{core}")
        except OSError:
            continue
        os.sched_setaffinity(0, {core})
        return lock
    raise RuntimeError("There are more workers than cores.")


def create_app() -> FastAPI:
    core = take_a_core()
    # Only now: libraries count the cores when they are loaded.
    from infinity_emb.args import EngineArgs
    from infinity_emb.infinity_server import create_server

    app = create_server(engine_args_list=EngineArgs.from_env(), url_prefix="/ai/v1")
    app.state.core = core
    return app
