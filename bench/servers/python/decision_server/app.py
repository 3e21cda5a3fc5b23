"""The HTTP side: `uvicorn decision_server.app:app`. Which thread runs a decision is a setting."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import AsyncIterator

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from cores import take_a_core

from .decider import Decider, TooLong
from .settings import Settings
from .wire import DecisionReply, DecisionRequest

PATH = "/ai/v1/systemone"
settings = Settings.from_environment()


@asynccontextmanager
async def lifespan(application: FastAPI) -> AsyncIterator[None]:
    if settings.switch_ms > 0:
        sys.setswitchinterval(settings.switch_ms / 1000)
    if settings.pin:
        application.state.core = take_a_core()
    application.state.decider = Decider(settings)
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@app.exception_handler(TooLong)
async def refuse(_: Request, error: TooLong) -> JSONResponse:
    return JSONResponse({"error": str(error)}, status_code=400)


def decide_now(request: DecisionRequest) -> DecisionReply | Response:
    reply = app.state.decider.decide(request)
    return Response(orjson.dumps(reply.model_dump()), media_type="application/json") if settings.orjson else reply


if settings.executor_threads == 0:

    @app.post(PATH, response_model=DecisionReply)
    def decide(request: DecisionRequest) -> DecisionReply | Response:
        return decide_now(request)

elif settings.executor_threads < 0:

    @app.post(PATH, response_model=DecisionReply)
    async def decide_in_loop(request: DecisionRequest) -> DecisionReply | Response:
        return decide_now(request)

else:
    executor = ThreadPoolExecutor(settings.executor_threads)

    @app.post(PATH, response_model=DecisionReply)
    async def decide_in_executor(request: DecisionRequest) -> DecisionReply | Response:
        return await asyncio.get_running_loop().run_in_executor(executor, decide_now, request)
