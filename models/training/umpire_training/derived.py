"""Tasks that follow from others: opinion (for or against) read off emotions, sentiment and valence, in many label names."""

from __future__ import annotations

from .tasks import Task

POSITIVE = {"admiration", "amusement", "approval", "caring", "desire", "excitement", "gratitude", "joy", "love", "optimism", "pride", "relief"}
NEGATIVE = {"anger", "annoyance", "disappointment", "disapproval", "disgust", "embarrassment", "fear", "grief", "nervousness", "remorse", "sadness"}
# (negative, neutral, positive): names with descriptions
WORDINGS = [
    {"negative": "unhappy, critical or bad", "neutral": "neither good nor bad", "positive": "happy, approving or good"},
    {"unfavourable": "speaks against it", "mixed_or_none": "takes no clear side", "favourable": "speaks for it"},
    {"bad": "the writer did not like it", "so-so": "no strong feeling", "good": "the writer liked it"},
    {"thumbs_down": None, "shrug": None, "thumbs_up": None},
    {"critical": "finds fault", "matter-of-fact": "states facts without judging", "enthusiastic": "praises"},
    {"dislike": "is displeased", "indifferent": "does not care", "like": "is pleased"},
]
ASKS = ["How does the writer feel about it?", "Is this good or bad?", "tone", "polarity", "Decide whether this is praise or criticism.", "opinion",
        "The writer is", "Which way does the opinion lean?", "What is the overall attitude?", "Classify the sentiment.", "mood of the text",
        "Would the writer recommend it?", "sentiment_label", "How is it judged?"]


def leaning(task: Task, row: dict) -> float | None:
    """-1, 0 or 1 where the row says so clearly"""
    if task.name == "emobank_valence":
        shares = row.get("soft") or {row["label"]: 1.0}
        bad, good = (sum(shares.get(f"{very}{side}", 0.0) for very in ("", "very ")) for side in ("negative", "positive"))
        return 1.0 if good >= 0.6 and bad <= 0.1 else -1.0 if bad >= 0.6 and good <= 0.1 else None
    label = row.get("label") or max(row["soft"], key=row["soft"].get)
    if label in POSITIVE | {"positive"}:
        return 1.0
    if label in NEGATIVE | {"negative"}:
        return -1.0
    return 0.0 if label == "neutral" else None


def opinions(tasks: list[Task]) -> list[Task]:
    """One task per wording, over the rows of all sources in turn: with and without a neutral option."""
    rows = [(leaning(task, row), row["state"]) for task in tasks
            if task.name in ("goemotions_single", "tweet_sentiment", "emobank_valence") for row in task.rows]
    found = []
    for number, wording in enumerate(WORDINGS):
        names = list(wording)
        for sides in (2, 3):
            labels = {name: wording[name] for name in (names if sides == 3 else [names[0], names[2]])}
            place = {-1.0: names[0], 0.0: names[1], 1.0: names[2]}
            own = [{"state": state, "label": place[lean]} for lean, state in rows[number::len(WORDINGS)]
                   if lean is not None and place[lean] in labels]
            if own:
                found.append(Task(f"opinion_{number}_{sides}", "choice", labels, ASKS, own))
    return found
