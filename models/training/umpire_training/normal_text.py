"""Texts as they are compared between tasks: lower case, letters only."""

from __future__ import annotations

import re


def normalise(text: str) -> str:
    return " ".join(re.findall("[a-z]+", text.lower()))
