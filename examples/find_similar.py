"""Finds the sentences nearest in meaning to a question, with embeddings. Needs nothing but Python 3.

Run: python3 examples/find_similar.py "where is my order"   (UMPIRE_URL, UMPIRE_API_KEY)
"""

import json
import os
import sys
import urllib.request
from pathlib import Path

URL = os.environ.get("UMPIRE_URL", "http://127.0.0.1:8080")
KEY = os.environ.get("UMPIRE_API_KEY", "")
TICKETS = Path(__file__).parent / "data" / "tickets.jsonl"


def embed(texts):
    body = json.dumps({"model": "text-embed-mini", "input": texts, "encoding_format": "float"}).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{URL}/ai/v1/embeddings", body, headers)) as reply:
        return [row["embedding"] for row in json.load(reply)["data"]]


def main():
    query = sys.argv[1] if len(sys.argv) > 1 else "where is my order"
    tickets = [json.loads(line)["state"] for line in TICKETS.read_text(encoding="utf-8").splitlines()]
    wanted, *found = embed([query, *tickets])
    # Vectors have length 1: the dot product is the cosine.
    scores = [sum(a * b for a, b in zip(wanted, vector)) for vector in found]
    for score, text in sorted(zip(scores, tickets), reverse=True)[:5]:
        print(f"{score:.2f}  {text}")


main()
