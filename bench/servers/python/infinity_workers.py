"""Infinity as several processes: `uvicorn --workers N --factory infinity_workers:create_app`, its settings in INFINITY_… variables.

Infinity has no setting for the threads of onnxruntime, which takes one for each core it may use: a process that may use one
core gets one thread.
"""

from __future__ import annotations

from cores import take_a_core
from fastapi import FastAPI


def create_app() -> FastAPI:
    core = take_a_core()
    # Only now: libraries count the cores when they are loaded.
    from infinity_emb.args import EngineArgs
    from infinity_emb.infinity_server import create_server

    app = create_server(engine_args_list=EngineArgs.from_env(), url_prefix="/ai/v1")
    app.state.core = core
    return app
