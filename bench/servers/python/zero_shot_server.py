"""`POST /ai/v1/systemone` over a model of entailment, as transformers' zero-shot pipeline asks it: `uvicorn zero_shot_server:app`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import onnxruntime as ort
from decision_server.settings import Settings
from decision_server.wire import ChoiceAnswer, ChoiceQuestion, DecisionReply, DecisionRequest, Usage
from fastapi import FastAPI
from tokenizers import Tokenizer

# `torch` is transformers' own pipeline; `onnx` the same over onnxruntime, without what the pipeline costs.
BACKEND = os.environ.get("PEER_BACKEND", "torch")
GRAPH = os.environ.get("PEER_GRAPH", "onnx/model.onnx")
HYPOTHESIS = os.environ["PEER_HYPOTHESIS"]
settings = Settings.from_environment()
Entail = Callable[[str, list[str]], list[float]]


def open_pipeline() -> Entail:
    from transformers import pipeline

    classify = pipeline("zero-shot-classification", model=str(settings.model_folder), device="cpu")

    def entail(state: str, options: list[str]) -> list[float]:
        found = classify(state, options, hypothesis_template=HYPOTHESIS)
        return [dict(zip(found["labels"], found["scores"], strict=True))[option] for option in options]

    return entail


def open_graph() -> Entail:
    tokenizer = Tokenizer.from_file(str(settings.model_folder / "tokenizer.json"))
    tokenizer.enable_padding()
    labels = json.loads(Path(settings.model_folder, "config.json").read_text("utf-8"))["label2id"]
    options = ort.SessionOptions()
    # A matter of right answers on CPUs without VNNI, not of speed.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if settings.intra_threads > 0:
        options.intra_op_num_threads = settings.intra_threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(str(settings.model_folder / GRAPH), options, providers=["CPUExecutionProvider"])

    def entail(state: str, options: list[str]) -> list[float]:
        # All pairs in one run: one by one, short texts take a quarter longer, and others as long.
        rows = tokenizer.encode_batch([(state, HYPOTHESIS.format(option)) for option in options])
        ids, mask = (np.array([getattr(row, name) for row in rows], np.int64) for name in ("ids", "attention_mask"))
        logits = session.run(["logits"], {"input_ids": ids, "attention_mask": mask})[0][:, labels["entailment"]]
        weights = np.exp(logits.astype(np.float64) - logits.max())
        return (weights / weights.sum()).tolist()

    return entail


@asynccontextmanager
async def lifespan(application: FastAPI) -> AsyncIterator[None]:
    application.state.entail = open_pipeline() if BACKEND == "torch" else open_graph()
    yield


app = FastAPI(lifespan=lifespan)
# 40 is what FastAPI's own pool has.
executor = ThreadPoolExecutor(settings.executor_threads or 40)


@app.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


def answer(state: str, question: ChoiceQuestion) -> ChoiceAnswer:
    options = {f"{name}: {text}" if text else name: name for name, text in question.criteria.items()}
    scores = dict(zip(options.values(), app.state.entail(state, list(options)), strict=True))
    best = max(scores, key=scores.__getitem__)
    return ChoiceAnswer(choice=best, probabilities=scores, confidence=scores[best])


def decide_now(request: DecisionRequest) -> DecisionReply:
    answers = {name: answer(request.state, question) for name, question in request.questions.items()}
    # Like the pipeline, it does not count tokens.
    return DecisionReply(model=request.model, answers=answers, usage=Usage(input_tokens=0))


@app.post("/ai/v1/systemone")
async def decide(request: DecisionRequest) -> DecisionReply:
    return await asyncio.get_running_loop().run_in_executor(executor, decide_now, request)
