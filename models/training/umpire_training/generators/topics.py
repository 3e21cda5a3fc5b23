"""Posts, mails, headlines and articles about an everyday subject, woven from its terms and frames that fit any subject."""

from __future__ import annotations

import random

from ..tasks import Example
from .common import choice
from .phrases import CITIES, FIRST, LAST, claim, expand, sentence
from .topic_terms import NEAR, TOPICS

FORUM = ["[Has anyone|Does anybody here have] [any |]experience with {t}?", "I [keep|am still] [having trouble|struggling] with {t}[.|, and it drives me mad.|, in particular with {t}.]", "[My question is|I wonder|What I want to know is] whether {t} [matters|makes a difference|is worth it].", "What do you [all |]think of {t}?",
         "[In my experience|As far as I know|From what I read], {t} [is more important than|has little to do with|goes hand in hand with] {t}.", "[Last {w}|Yesterday|A while ago] I [read|heard|asked] [something |]about {t}.", "[Somebody|A friend|My {kin}] [told me|claims] that {t} [is overrated|is the key|comes first].", "I'd [rather|sooner] [talk about|start with] {t} than {t}.",
         "[Sorry if this was asked before, but|Newbie question:] how does {t} [compare to|go together with] {t}?", "[Any|Some] [advice|hints|pointers] on {t} [would be great|are welcome].", "I [disagree|agree] with what {p} [wrote|said] about {t}.", "[Don't|Never] forget {t}.", "[Without|Apart from] {t}, [the rest is easy|I see no problem|nothing works].",
         "There is a [good|long|short] [thread|page|video] about {t} somewhere.", "First I thought of {t}, then of {t}.", "It all began with {t}.", "[The main thing|What counts] is {t}.", "I spent [the whole weekend|two evenings|far too long] on {t}."]
NEWS = ["[Experts|Observers|Insiders] [speak of|point to|expect more of] {t}.", "{T} [is|was] [once again |]the [talk of the day|focus of attention|subject of a report] in {c}.", "[According to|In the words of] {p}, {t} [is only part of|says much about|will change] the picture.", "[In {c}|On {d}|This {w}], [attention turned|the focus shifted] to {t}.",
        "A [report|study|survey] [published on {d}|from {c}|by {p}] looks at {t} and {t}.", "{p} [from|of] {c} has [worked on|dealt with|followed] {t} for {n} years.", "[The debate|A discussion] about {t} [goes on|has begun|is far from over].", "[Besides|Along with|Next to] {t}, {t} [plays a part|was mentioned|drew interest].",
        "[Nobody|Hardly anyone] had [expected|foreseen] {t}.", "\"[It is|This is] about {t},\" [said|explained] {p}.", "[More|Less] than {n}0 percent of those asked [mentioned|named] {t}.", "{T} [comes|came] as a [surprise|relief]."]
MAILS = ["[Could|Can] you [send|tell] me [more|something|the details] about {t}?", "I [am writing|write] [because of|about|concerning] {t}.", "[As we discussed|As I said on the phone], {t} [comes first|is still open|worries me].", "[Please|Kindly] let me know [what you think of|how we go on with] {t}.", "We [talked|argued] about {t} [over dinner|last {w}|for an hour].",
         "[Remember|Do you remember] what I said about {t}?", "[Enclosed|Attached] is [a page|a note|something] on {t}.", "I [promised|wanted] to write to you about {t} and {t}.", "[By the way|P.S.|One more thing]: {t} [turned out fine|is sorted|was my idea]."]
HEADLINES = ["{T}: what [everyone|you] should know", "[Why|How] {t} [matters|changed everything] in {c}", "{c}: [new row|questions] over {t}", "{T} and {t} [in the spotlight|under scrutiny]", "[Five|Seven|Ten] [facts|myths|tips] about {t}", "[Everything|All] about {t}", "Re: {t}", "[Question|Help|Advice needed]: {t}", "{p} on {t}", "From {t} to {t}: [a guide|a look back]", "{T} - [again|at last|for beginners]"]
SUBJECT_LINES = ["{t}", "Re: {t}", "[question|problem|thoughts] on {t}", "{t} vs. {t}", "[help|urgent]: {t}"]
FILLER = ["[Thanks|Thanks in advance|Cheers]!", "What a week.", "[I hope|Hopefully] this [helps|makes sense].", "[Anyway|Well], that's it for now.", "[Sorry|Apologies] for the long text.", "Let me know.", "More on this soon.", "That is my two cents."]
QUESTIONS = ["What is the [text|post|message|article] about?", "[topic|subject|section|category|theme]", "Which [group|forum|section|desk|folder] does this belong to?", "[File|Sort|Classify] the [text|post|message] by [topic|subject].", "Choose the [topic|subject|right section].", "Where should this be posted?", "Pick the [subject area|theme] that fits best.", "Main [topic|subject] of the text"]
YES = ["It is about {n}.", "The [text|post|message] [is about|deals with|belongs under] {n}.", "[Topic|Subject]: {n}", "[The main subject is|This concerns] {n}.", "This should go to the section \"{n}\".", "The text is about this: {d}.", "A reader interested in {n} would want this."]
PREFIXES = ["forum", "news", "talk", "hobby", "desk", "board", "life", "group", "section", "feed"]


def lines(topic: str, count: int, pool: list[str], rng: random.Random) -> list[str]:
    _, terms, remarks = TOPICS[topic]
    bag = rng.sample(terms, min(len(terms), 2 * count + 2))
    found = []
    for _ in range(count):
        if count > 1 and rng.random() < 0.22:  # alone, a remark may fit several subjects
            found.append(rng.choice(remarks))
            continue
        text = expand(rng.choice(pool), rng, {"w": ["week", "month", "spring", "winter"], "kin": ["brother", "neighbour", "aunt", "boss", "teacher"], "p": f"{rng.choice(FIRST)} {rng.choice(LAST)}", "c": CITIES, "n": [str(n) for n in range(2, 10)],
                                              "d": ["Monday", "Tuesday", "Thursday", "Friday"], "t": "\0", "T": "\1"})
        while "\0" in text or "\1" in text:
            if len(bag) < 2:
                bag = rng.sample(terms, len(terms))
            term = bag.pop()
            at = min(i for i in (text.find("\0"), text.find("\1")) if i >= 0)
            text = text[:at] + (term if text[at] == "\0" else term[0].upper() + term[1:]) + text[at + 1:]
        found.append(sentence(text))
    return list(dict.fromkeys(found))


def text_about(topic: str, rng: random.Random) -> str:
    kind, count = rng.random(), rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12])
    if kind < 0.15:
        return lines(topic, 1, HEADLINES, rng)[0].rstrip(".")
    if kind < 0.3:
        return lines(topic, 1, HEADLINES, rng)[0].rstrip(".") + "\n\n" + " ".join(lines(topic, count, NEWS, rng))
    pool = FORUM if kind < 0.7 else NEWS if kind < 0.85 else MAILS + FORUM
    parts = lines(topic, count, pool, rng)
    if len(parts) > 3 and rng.random() < 0.35:  # a remark about something else changes nothing
        aside = rng.choice([name for name in TOPICS if name != topic])
        parts.insert(rng.randrange(1, len(parts)), lines(aside, 1, ["[By the way|Off topic], I still have to deal with {t}.", "[By the way|Besides], we also talked about {t}."], rng)[0])
    if rng.random() < 0.25:
        parts.append(expand(rng.choice(FILLER), rng))
    body = " ".join(parts)
    if len(parts) > 5:
        cut = rng.randrange(2, len(parts) - 1)
        body = " ".join(parts[:cut]) + "\n\n" + " ".join(parts[cut:])
    name, last = rng.choice(FIRST), rng.choice(LAST)
    if kind > 0.5 and rng.random() < 0.6:
        subject = lines(topic, 1, SUBJECT_LINES, rng)[0].rstrip(".") if rng.random() < 0.6 else rng.choice(["(no subject)", "hello", "a question", "Re: your message"])
        head = rng.choice([f"From: {name} {last} <{name.lower()}@mail.example>\nSubject: {subject}\n\n", f"Subject: {subject}\nFrom: {name.lower()}.{last.lower()}@site.example\nDate: {rng.randint(1, 28)} May\n\n", f"{subject}\n\n", f"{name} wrote:\n> "])
        body = head + body + rng.choice(["", f"\n\n{name}", f"\n-- \n{name} {last}, {rng.choice(CITIES)}"])
    return body


def shown_topics(gold: str, rng: random.Random) -> list[str]:
    count = min(len(TOPICS) - 1, rng.choice([2, 3, 3, 4, 5, 6, 8, 12, 19]))
    close = [name for group in NEAR if gold in group for name in group if name != gold] if rng.random() < 0.5 else []
    close = rng.sample(list(dict.fromkeys(close)), min(len(set(close)), count))
    rest = [name for name in TOPICS if name not in (gold, *close)]
    return [gold, *close, *rng.sample(rest, count - len(close))]


def named(names: list[str], rng: random.Random) -> list[tuple[str, str | None]]:
    kind = rng.random()
    if kind < 0.15:
        prefix = rng.sample(PREFIXES, rng.randint(1, 3))
        return [(f"{rng.choice(prefix)}.{name.replace(' ', rng.choice(['-', '.', '']))}", TOPICS[name][0] if rng.random() < 0.3 else None) for name in names]
    if kind < 0.25:
        return [(f"{code} {name}", None) for code, name in zip(rng.sample(range(10, 100), len(names)), names)]
    return [(name, TOPICS[name][0]) for name in names]


def generate(rng: random.Random) -> Example:
    topic = rng.choice(list(TOPICS))
    names = shown_topics(topic, rng)
    options = named(names, rng)
    plain = options[0][0] == topic
    found = [choice(expand(rng.choice(QUESTIONS), rng), options, 0, rng, vary=plain)]
    for _ in range(rng.choice([1, 1, 2])):
        truth = rng.random() < 0.5
        asked = topic if truth else rng.choice(names[1:])
        found.append(claim(expand(rng.choice(YES), rng, {"n": asked, "d": TOPICS[asked][0]}), truth, rng))
    if rng.random() < 0.3:
        names = shown_topics(topic, rng)
        found.append(choice(expand(rng.choice(QUESTIONS), rng), [(name, TOPICS[name][0]) for name in names], 0, rng))
    return Example(text_about(topic, rng), rng.sample(found, rng.randint(1, len(found))))
