"""Requests of kev's golden.json: every path of the contract once, in as few tokens as it takes."""

from __future__ import annotations

TICKET = (
    "From: dana@example.com\nSubject: charged twice\n\nHi, I upgraded to the yearly plan on Monday and my card was charged "
    "two times. The app itself works fine. Please send one payment back, I need it before Friday."
)
TOPICS = (
    "billing shipping returns warranty login passwords invoices taxes refunds coupons gifts subscriptions cancellations "
    "outages bugs crashes performance printing scanning exports imports backups sharing permissions teams audits privacy "
    "cookies accessibility translations keyboards mice monitors cables batteries chargers hotels flights trains visas"
).split()
WEATHER = "Day {}: the station at the pass logged light snow, wind from the north-west and a closed road. "
LONG_REPORT = (
    "".join(WEATHER.format(day) for day in range(1, 16))
    + "On day 16 the avalanche barrier at gate four broke and two cars were damaged; nobody was hurt. "
    + "".join(WEATHER.format(day) for day in range(17, 32))
)
POLICY = "Rule {}: a claim filed within {} days is valid when the parcel was insured and the form is signed. "
LONG_POLICY = "Decide by these rules. " + "".join(POLICY.format(i, 10 + i) for i in range(1, 15)) + "Is the claim valid?"
LONG_OPTION = "mentions " + ", ".join(f"item {i} of the packing list" for i in range(1, 60))


def choice(instructions: str, *options: str | tuple[str, str | None]) -> dict:
    pairs = [[option, None] if isinstance(option, str) else list(option) for option in options]
    return {"type": "choice", "instructions": instructions, "options": pairs}


def noul(instructions: str, false: str | None = None, true: str | None = None) -> dict:
    return {"type": "noul", "instructions": instructions, "false": false, "true": true}


def score(instructions: str, *levels: str) -> dict:
    return {"type": "score", "instructions": instructions, "levels": list(levels)}


CASES: list[dict] = [
    {   # the everyday request: several questions about one text
        "state": TICKET,
        "questions": [
            choice("Which team should handle this?", ("billing", "payments, refunds"), ("technical", "bugs, outages"), "sales"),
            noul("Does the customer ask for money back?"),
            noul("is_angry", "calm or friendly", "angry, insulting or threatening"),
            score("How urgent is it?", "can wait for weeks", "within a few days", "today"),
        ],
    },
    {   # more than two windows, the evidence in the middle
        "state": LONG_REPORT,
        "questions": [choice("What was damaged?", "cars", "a bridge", "nothing", "a house"), noul("Somebody was hurt.")],
    },
    {   # options over several chunks
        "state": "My battery is empty after an hour and the charger gets very hot.",
        "questions": [choice("Pick the topic.", *((topic, f"everything that customers ask or report about {topic}, "
                                                   "in general or for one order") for topic in TOPICS))],
    },
    {   # instructions longer than a window, an option of several pieces
        "state": "The parcel was insured, the form is signed, and it was filed after twelve days.",
        "questions": [noul(LONG_POLICY), choice("What does the text say?", ("list", LONG_OPTION), ("claim", "about a claim"))],
    },
    {   # unicode, and what is left of half a character
        "state": "Der Zug nach Zürich fällt aus 😡 – 次の電車は10時です。 \ud83d naïve ﬁancé\u0000 e\u0301",
        "questions": [choice("言語は?", "Deutsch", "日本語", ("émoji", "😡"), "русский"), noul("Fährt der Zug?")],
    },
    {   # names of special tokens are text
        "state": "[CLS] The log says [SEP] and [MASK] [PAD] ##ing [UNK].",
        "questions": [choice("[SEP] Which word is quoted?", "[SEP]", "[MASK]", "sep"), noul("[CLS]")],
    },
    {   # nothing to read: empty state, empty instructions, an empty name, one option alone, a tie after rendering
        "state": "",
        "questions": [
            choice("", "", "something"),
            choice("Only one?", "yes"),
            choice("Same text twice.", "a: b", ("a", "b"), ("b", "")),
            score("", "", "high"),
        ],
    },
    {   # a log as JSON, a score of ten levels
        "state": '{"level":"error","service":"pay","retries":5,"msg":"timeout after 3000 ms","trace":["a1","b2"]}',
        "questions": [
            score("severity from 1 to 10", *(f"{level} of 10" for level in range(1, 11))),
            noul("retries > 3", "three retries or fewer", "more than three retries"),
            choice("route_to", "on_call_engineer", "weekly_report", "ignore"),
        ],
    },
]  # fmt: skip
