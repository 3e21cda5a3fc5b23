"""Texts as they are compared between tasks: lower case, letters only."""

from __future__ import annotations

import hashlib
import re


def normalise(text: str) -> str:
    return " ".join(re.findall("[a-z]+", text.lower()))


def digest(text: str) -> str:
    """Hex SHA-1 of the normalised text: names a text in a list without showing it."""
    return hashlib.sha1(normalise(text).encode()).hexdigest()
