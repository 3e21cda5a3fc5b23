"""`POST /ai/v1/embeddings` over sentence-transformers: `uvicorn embedding_server.app:app`."""

from __future__ import annotations

import asyncio
import base64
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Literal

import numpy as np
import onnxruntime as ort
import torch
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer

MODEL_FOLDER = os.environ["PEER_MODEL_FOLDER"]
# `torch`, or `onnx` for a folder that embedding_folder.py made.
BACKEND: Any = os.environ.get("PEER_BACKEND", "torch")
# Of the folder, for `onnx`.
GRAPH = os.environ.get("PEER_GRAPH", "model_quantized.onnx")
# Texts of a batch: 0 leaves it to sentence-transformers, which takes 32.
BATCH_SIZE = int(os.environ.get("PEER_BATCH_SIZE", "0"))
# Threads of one batch: 0 leaves it to the libraries, which take one for each core.
THREADS = int(os.environ.get("PEER_INTRA_THREADS", "0"))
# Requests at a time: 0 leaves it to FastAPI's thread pool of 40.
EXECUTOR_THREADS = int(os.environ.get("PEER_EXECUTOR_THREADS", "0"))


class EmbeddingRequest(BaseModel):
    model: str
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"


class Embedding(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class EmbeddingReply(BaseModel):
    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: Usage


def open_model() -> SentenceTransformer:
    if BACKEND == "torch":
        if THREADS > 0:
            torch.set_num_threads(THREADS)
        return SentenceTransformer(MODEL_FOLDER, device="cpu")
    options = ort.SessionOptions()
    # A matter of right answers on CPUs without VNNI, not of speed.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if THREADS > 0:
        options.intra_op_num_threads = THREADS
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    files = {"file_name": GRAPH, "provider": "CPUExecutionProvider", "session_options": options}
    return SentenceTransformer(MODEL_FOLDER, device="cpu", backend=BACKEND, model_kwargs=files)


@asynccontextmanager
async def lifespan(application: FastAPI) -> AsyncIterator[None]:
    application.state.model = open_model()
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


def embed_now(request: EmbeddingRequest) -> EmbeddingReply:
    inputs = [request.input] if isinstance(request.input, str) else request.input
    limits = {"batch_size": BATCH_SIZE} if BATCH_SIZE > 0 else {}
    vectors = app.state.model.encode(inputs, normalize_embeddings=True, show_progress_bar=False, **limits)
    as_base64 = request.encoding_format == "base64"
    data = [
        Embedding(index=index, embedding=to_base64(vector) if as_base64 else vector.tolist())
        for index, vector in enumerate(vectors)
    ]
    # Counting tokens would tokenise a second time; like many such servers this one does not.
    return EmbeddingReply(data=data, model=request.model, usage=Usage(prompt_tokens=0, total_tokens=0))


def to_base64(vector: np.ndarray) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


if EXECUTOR_THREADS == 0:

    @app.post("/ai/v1/embeddings")
    def embed(request: EmbeddingRequest) -> EmbeddingReply:
        return embed_now(request)

else:
    executor = ThreadPoolExecutor(EXECUTOR_THREADS)

    @app.post("/ai/v1/embeddings")
    async def embed_in_executor(request: EmbeddingRequest) -> EmbeddingReply:
        return await asyncio.get_running_loop().run_in_executor(executor, embed_now, request)
