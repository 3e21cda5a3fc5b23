"""Rates reviews on a scale of five levels, several at once, and comes back when the server is busy. Python 3 alone.

Run: python3 examples/rate_reviews.py   (UMPIRE_URL, UMPIRE_API_KEY)
"""

import json
import os
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

URL = os.environ.get("UMPIRE_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("UMPIRE_API_KEY", "")
REVIEWS = [
    "Broke after two days, and nobody answers my mails. Never again.",
    "It does what it should. Not pretty, but fine for the price.",
    "Best purchase of the year! My whole family uses it every day.",
    "The colour is not the one in the picture, the rest is all right.",
]
QUESTION = {
    "type": "score",
    "instructions": "How satisfied is the reviewer?",
    "criteria": [
        "very unsatisfied: warns others, wants money back",
        "unsatisfied: more bad than good",
        "neutral: good and bad in balance",
        "satisfied: more good than bad",
        "very satisfied: praises it, recommends it",
    ],
}


def rate(review):
    body = json.dumps({"model": "kev", "state": review, "questions": {"stars": QUESTION}}).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{URL}/ai/v1/systemone", body, headers)) as reply:
                return json.load(reply)["answers"]["stars"]
        except urllib.error.HTTPError as error:
            # 429 and 503 say when to come back; anything else is an error of ours.
            if error.code not in (429, 503):
                raise SystemExit(json.load(error)["error"]["message"]) from None
            time.sleep(float(error.headers.get("Retry-After", 1)))


with ThreadPoolExecutor(4) as pool:
    for review, answer in zip(REVIEWS, pool.map(rate, REVIEWS)):
        print(f"{answer['score'] + 1:.1f} of 5  {review}")
