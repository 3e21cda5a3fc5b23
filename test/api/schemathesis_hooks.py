"""What schemathesis cannot know of this API: which models there are, and which refusals follow from what a well-formed
request means. Every other failure counts."""

import json
from collections import defaultdict
from itertools import count

import schemathesis

CHAT_MODEL = "chat-counted"
# Half of the good requests name a model that is served, so that they get beyond "no such model".
MODELS = {
    "/ai/v1/systemone": "kev",
    "/ai/v1/embeddings": "text-embed-mini",
    "/ai/v1/rerank": "bert-reranker",
    "/ai/v1/chat/completions": CHAT_MODEL,
    "/ai/v1/completions": CHAT_MODEL,
    "/ai/v1/responses": CHAT_MODEL,
}

# Refusals (400) of requests that no schema can tell from good ones: by code, or by message of `invalid_request`.
MEANING_CODES = {
    # The model is another route's.
    "model_type_mismatch",
    # Tokens are counted by the model's tokenizer.
    "context_length_exceeded",
    # The same key came with another body before.
    "idempotency_key_reused",
}
MEANING_MESSAGES = (
    # A moment has passed.
    "A key must expire in the future",
    "A price takes effect now or later",
    # Two parameters contradict each other, or one names something twice.
    "The parameter 'from' must be before 'to'.",
    "The parameter 'group_by' must be names out of",
    "A CSV file has no pages.",
    # How far back a report may go depends on what it is grouped by.
    "This report covers at most",
    # Blanks are not a name.
    "A key needs a name.",
    # The vectors of the model are shorter.
    "The field 'dimensions' must be at most",
    # The model has others, or none.
    "text-embed-mini has no prompt of this name.",
    # A row says what is right of no question; a choice of one option leaves nothing to learn.
    "rows[",
    "questions[",
    # They contradict each other.
    "The fields 'prompt_name' and 'input_type' both choose a prompt",
)


chat_calls = defaultdict(count)


@schemathesis.hook
def before_call(context, case, kwargs):
    model = MODELS.get(case.path)
    is_positive = case.meta is not None and case.meta.generation.mode.is_positive
    if model is None or not is_positive or not isinstance(case.body, dict):
        return
    size = len(json.dumps(case.body))
    if size % 2:
        return
    case.body["model"] = model
    # Drawn by itself, hardly any chat is a stream: every other call of each route is one.
    if model == CHAT_MODEL and next(chat_calls[case.path]) % 2:
        case.body["stream"] = True


@schemathesis.hook
def filter_failure(context, failure, case, response):
    kind = type(failure).__name__
    if kind == "RejectedPositiveData" and response.status_code == 400:
        error = response.json()["error"]
        return not (error["code"] in MEANING_CODES or error["message"].startswith(MEANING_MESSAGES))
    if kind == "ServerError" and response.status_code in (503, 504):
        # Within the milliseconds that the caller named there was no room, or no answer: what it asked to be told.
        has_deadline = "x-umpire-deadline-ms" in (case.headers or {})
        return not (has_deadline and response.json()["error"]["code"] in ("overloaded", "upstream_timeout"))
    if kind == "AcceptedNegativeData":
        # HTTP says that headers nobody knows are passed over.
        return "in header - object with unexpected properties" not in failure.message
    return True
