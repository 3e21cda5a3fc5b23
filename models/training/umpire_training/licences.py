"""Which tasks may be trained on. Weights may be used commercially: whoever uses them should not depend on rights that
nobody has granted.

A task is left out where its licence is not stated, where only Twitter's terms hold, and where it is GPL or AGPL. A
repository that says nothing may still be a copy of what its publisher gave an open licence: those are named here, with
the place that states it. Tasks that mix such a source with an unclear one stay out.
"""

from __future__ import annotations

UNCLEAR = ("not stated", "twitter", "gpl")

# task -> the publisher's own licence, and where it is stated
STATED_BY_THE_PUBLISHER = {
    "boolq": "CC BY-SA 3.0 (README of google-research-datasets/boolean-questions); the changed questions are of the same passages",
    "passages_closed": "XQuAD CC BY-SA 4.0 (README of deepmind/xquad); Quoref and ROPES CC BY 4.0 (their pages at AllenAI)",
    "cosmos": "CC BY 4.0 (the data set's page at AllenAI)",
    "small_stories": "CC BY 3.0 (licence file of the bAbI tasks by Facebook Research)",
    "drug_reviews": "CC BY 4.0 (UCI Machine Learning Repository, Drug Reviews (Druglib.com))",
    "video_comments": "CC BY 4.0 (UCI Machine Learning Repository, YouTube Spam Collection)",
    "town_dialogues": "MIT (licence file of budzianowski/multiwoz)",
    "perspectives": "CC BY-SA 4.0 (data/dataset/license.txt of CogComp/perspectrum)",
    "info_tables": "Apache-2.0 (licence file of infotabs/infotabs)",
}
# Stated as open, but the texts are of somebody else who has not said so.
TEXTS_OF_OTHERS = {"fact_checks": "the articles are PolitiFact's"}


def may_be_trained_on(task: str, licence: str) -> bool:
    if task in TEXTS_OF_OTHERS:
        return False
    return task in STATED_BY_THE_PUBLISHER or not any(words in licence.lower() for words in UNCLEAR)
