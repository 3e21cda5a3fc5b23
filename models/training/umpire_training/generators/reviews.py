"""Opinions on films, books, places, devices and services, put together from phrases; facts about them as the opposite of opinion."""

from __future__ import annotations

import random

from ..tasks import Example
from .common import choice, score
from .phrases import CITIES, FIRST, LAST, claim, expand, sentence

# kind -> (nouns, aspects: name -> (description, noun phrases))
KINDS = {
    "film": (["film", "movie", "thriller", "comedy", "drama", "documentary", "sequel", "western", "romance", "debut feature", "heist movie", "period piece"], {
        "acting": ("how the actors play", ["the [acting|cast|lead actress|lead|ensemble|leading man]", "every performance"]), "story": ("plot and script", ["the [plot|story|script|screenplay]", "the central mystery"]), "music": ("score and songs", ["the [soundtrack|score|music]"]),
        "visuals": ("pictures and effects", ["the [camera work|cinematography|photography|imagery]", "the [special effects|production design]"]), "pacing": ("how fast it moves", ["the [pacing|rhythm|editing]"]), "dialogue": ("what the characters say", ["the [dialogue|banter|wit]"])}),
    "book": (["novel", "book", "memoir", "biography", "short story collection", "crime story", "fantasy epic", "debut", "essay collection"], {
        "characters": ("the people in it", ["the [characters|heroine|narrator|villain]"]), "style": ("how it is written", ["the [prose|writing|style|language]"]), "plot": ("what happens", ["the [plot|storyline|mystery]"]), "ending": ("how it ends", ["the [ending|final chapter|last act]"]), "research": ("how well it is informed", ["the [research|historical detail]"])}),
    "restaurant": (["restaurant", "bistro", "cafe", "pizzeria", "sushi bar", "diner", "tavern", "steakhouse", "bakery", "noodle place"], {
        "food": ("taste and quality of the dishes", ["the [food|soup|pasta|dessert|fish|bread|curry]", "every dish"]), "service": ("the staff", ["the [service|waiter|staff|waitress|owner]"]), "price": ("what it costs", ["the [bill|price|price level]", "what we paid"]), "atmosphere": ("the room and the mood", ["the [atmosphere|decor|terrace|room|ambience]"]), "waiting time": ("how long one waits", ["the [wait|waiting time]"])}),
    "hotel": (["hotel", "hostel", "guesthouse", "resort", "bed and breakfast", "holiday flat", "inn", "campsite"], {
        "room": ("the room itself", ["the [room|bed|bathroom|balcony]"]), "cleanliness": ("how clean it is", ["the [cleanliness|housekeeping]"]), "location": ("where it lies", ["the [location|neighbourhood|view]"]), "breakfast": ("the morning meal", ["the [breakfast|buffet]"]), "staff": ("the people who work there", ["the [staff|reception|receptionist|concierge]"])}),
    "device": (["phone", "laptop", "headset", "camera", "vacuum cleaner", "watch", "blender", "printer", "speaker", "e-bike", "monitor", "keyboard", "coffee machine", "drone", "toaster", "tablet"], {
        "battery": ("how long it runs", ["the battery [|life]"]), "build": ("material and workmanship", ["the [build|casing|workmanship|hinge]"]), "handling": ("how easy it is to use", ["the [handling|menu|setup|interface]"]), "performance": ("speed and power", ["the [speed|performance|processor|motor]"]), "noise": ("how loud it is", ["the noise [level|]"])}),
    "app": (["app", "game", "website", "photo editor", "budget planner", "map app", "mail program", "podcast player", "language course", "dating app", "puzzle game"], {
        "design": ("looks and layout", ["the [design|layout|interface|look]"]), "stability": ("whether it crashes", ["the [stability|reliability]", "the latest update"]), "features": ("what it can do", ["the [range of functions|feature set|search]"]), "support": ("help from the makers", ["the [support|help desk|customer care]"]), "adverts": ("advertising in it", ["the [advertising|number of ads]"])}),
    "service": (["moving company", "courier", "garage", "dentist", "gym", "insurance", "internet provider", "cleaning service", "driving school", "bank", "airline", "hairdresser", "language school", "car rental", "online shop"], {
        "friendliness": ("how people treat customers", ["the [staff|tone on the phone|people there]"]), "speed": ("how fast they work", ["the [speed|turnaround|delivery]"]), "price": ("what it costs", ["the [price|fee|tariff]"]), "quality": ("how good the work is", ["the [work|result|quality]"]), "communication": ("how they keep in touch", ["the [communication|information by mail]"])}),
    "show": (["concert", "musical", "play", "series", "exhibition", "opera", "circus show", "stand-up set", "festival", "podcast", "ballet", "season finale"], {
        "performers": ("the people on stage or screen", ["the [performers|singers|dancers|cast|band|hosts]"]), "venue": ("the place", ["the [venue|hall|stage|seats]"]), "staging": ("light, set and direction", ["the [staging|direction|lighting|set]"]), "sound": ("how it sounds", ["the [sound|acoustics|mix]"]), "length": ("how long it is", ["the [length|running time]"])}),
}
GOOD_VERDICTS = ["[is|was] [simply |really |truly |quite |just |]{ga}", "[is|was] anything but {ba}", "could hardly be better", "[deserves|has earned] [every|all the] praise", "[exceeded|surpassed] [my|our|all] [expectations|hopes]", "[is|was] a [real|pure|rare] {gn}", "left nothing to be desired",
                 "[is|was] far from {ba}", "[gets|got] everything right", "[won|convinced] [me|us] [at once|over|from the first minute]", "[is|was] never {ba}", "works [beautifully|like a charm|wonderfully]", "[is|was] {ga} and {ga}", "[is|was] better than [anything|everything] in its class", "made [me|us] smile"]
BAD_VERDICTS = ["[is|was] [simply |really |truly |quite |just |]{ba}", "[is|was] anything but {ga}", "could hardly be worse", "does not deserve [any|the] praise", "fell [far|well|] short of [my|our|all] [expectations|hopes]", "[is|was] a [real|complete|sad] {bn}", "left [much|a lot|everything] to be desired",
                "[is|was] far from {ga}", "[gets|got] nothing right", "[annoyed|bored|disappointed] [me|us] [from the first minute|to the end|throughout]", "[is|was] never {ga}", "[fails|failed] [on every level|badly|again and again]", "[is|was] {ba} and {ba}", "[is|was] worse than [anything|everything] in its class", "made [me|us] want to leave", "[is|was] not {ga} at all"]
GOOD_ADJ = "excellent superb wonderful delightful brilliant charming great outstanding impressive lovely splendid terrific marvellous remarkable first-rate pleasing stunning inspired flawless fantastic satisfying amazing refreshing superior magnificent engaging clever convincing rewarding memorable".split()
BAD_ADJ = "terrible awful dreadful poor disappointing mediocre lousy horrible annoying weak shoddy clumsy tedious dull second-rate miserable sloppy pathetic frustrating unbearable appalling dismal forgettable hopeless embarrassing lifeless tiresome careless bland atrocious".split()
GOOD_NOUN = "joy treat pleasure delight gem highlight triumph success surprise treasure masterpiece feast".split()
BAD_NOUN = "letdown disaster mess nuisance failure disappointment joke nightmare insult chore shambles fiasco".split()
GOOD_WHOLE = ["not a [dull|wasted|boring] [moment|minute] [anywhere|in it|from start to finish]", "I [would|will] [gladly|happily|certainly] [come back|do it again|return]", "worth every [penny|cent|minute]", "[I|we] [loved|adored|enjoyed] [every bit of it|it from start to finish|it a lot|this {k} very much]", "what a [{gn}|{k}]: {ga}, {ga} and {ga}",
              "you [can't|cannot|won't] go wrong with this {k}", "one of the [best|finest] [things|{k} choices] [this year|in years|I know]", "[I|we] can't [wait for|think of] [another one|anything better]", "it [stays with you|lingers] [for days|long afterwards]", "hats off to everyone who made this possible", "a {k} [like this|of this kind] is rare and {ga}",
              "[it never puts a foot wrong|there is nothing to complain about|I have no complaints]", "this {k} [hits the mark|ticks every box|lifts the spirits|has heart]", "my {w} [raved|could not stop talking] about it, and rightly so", "if only all of them were this {ga}", "five stars [without|beyond] any doubt", "a [small|true|little] {gn}"]
BAD_WHOLE = ["hardly worth [the money|a visit|the effort|your time]", "I [would|will] [never|not] [come back|do it again|return|touch it again]", "a waste of [money|time|good money|an evening]", "[I|we] [hated|disliked|regretted] [every bit of it|it from start to finish|it a lot|this {k} very much]", "what a [{bn}|{k}]: {ba}, {ba} and {ba}",
             "you [can|could] [do|find] [far|much] better [than this {k}|elsewhere]", "one of the [worst|poorest] [things|{k} choices] [this year|in years|I know]", "[I|we] can't [wait to forget it|think of anything worse]", "it [is forgotten|fades] [within the hour|at once]", "somebody should be ashamed of this", "a {k} [like this|of this kind] is [sadly|simply] {ba}",
             "[it never gets off the ground|there is nothing to like|there is little to praise]", "this {k} [misses the mark|falls flat|drags on|has no heart|runs out of steam]", "my {w} [complained|could not stop complaining] about it, and rightly so", "if only it were half as {ga} as [promised|advertised]", "[one star|zero stars], and that is generous", "keep your money",
             "I wanted to like [it|this {k}], but I could not", "the promises are {ga}, the reality is {ba}"]
MIXED_WHOLE = ["not bad, not [great|good] either", "[decent|passable|acceptable], [but|though] [nothing special|no more than that]", "it has its [moments|charms] and its [flaws|problems]", "I am [torn|in two minds|undecided]", "some [parts|things] are {ga}, others {ba}", "a [mixed bag|curate's egg|bit of both]", "half {ga}, half {ba}", "you may like it or you may not", "good in places, {ba} in others", "average [at best|all in all]"]
GOOD_TURNS = ["[it |]starts slow[ly|], but [ends up|becomes|turns out] {ga}", "despite [a few|some] [small |minor |]flaws, [I am glad I chose it|it is {ga}|it won me over]", "[the beginning|my first impression] was {ba}, yet in the end [I loved it|it is {ga}]", "I expected the worst and got something {ga}", "not perfect, but [really |truly |]{ga}", "what looks {ba} at first proves {ga}", "although [some|others] call it {ba}, I found it {ga}"]
BAD_TURNS = ["[it |]starts well, but [ends up|becomes|turns out] {ba}", "despite [a few|some] [good ideas|nice touches], [I regret it|it is {ba}|it left me cold]", "[the beginning|my first impression] was {ga}, yet in the end [I was disappointed|it is {ba}]", "I expected something {ga} and got the opposite", "nice idea, but [really |truly |]{ba}", "what looks {ga} at first proves {ba}", "although [some|others] call it {ga}, I found it {ba}"]
FACTS = {
    "film": ["[A|The story of a] {job} [returns|travels|moves] to {city} [after|before] the [death|wedding] of a {kin}.", "{p}, a {job} in {city}, finds a {obj} that once belonged to a {kin}.", "When a {job} disappears, {p} and a {kin} search [the coast|the old town|the mountains] for a {obj}.", "Two {kin}s meet in {city} and plan to steal a {obj}.",
             "Directed by {p}, the {k} runs for {m} minutes.", "The {k} was shot in {city} in {y}.", "{p} plays a {job} who [hides|inherits|repairs] a {obj}.", "In {y}, a young {job} leaves {city} with nothing but a {obj}."],
    "book": ["{p}, a {job} in {city}, [inherits|loses|discovers] a {obj}.", "The {k} has {m} pages and came out in {y}.", "Set in {city} in {y}, the {k} follows a {job} and a {kin}.", "The narrator, a {job}, writes letters to a {kin} in {city}.", "It is the {n}th {k} by {p}.", "Each chapter follows another {job} through one day in {city}."],
    "restaurant": ["The {k} is open from {n} to 23 o'clock.", "It has {m} seats and lies near the station of {city}.", "The {k} was opened in {y} by {p}.", "The menu lists {n} soups and {m} wines.", "Tables can be booked online.", "We sat by the window and ordered the soup of the day."],
    "hotel": ["The {k} has {m} rooms on {n} floors.", "Breakfast is served from {n} o'clock.", "It lies {m} kilometres from {city}.", "Guests check in after two.", "The {k} was rebuilt in {y}.", "We stayed for {n} nights in a double room."],
    "device": ["The {k} weighs {m}0 grams.", "It comes with a cable and a printed manual.", "The {k} was presented in {city} in {y}.", "It has {n} buttons and a USB port.", "The box contains the {k}, a charger and {n} screws.", "I bought it in {y}."],
    "app": ["The {k} needs {m} megabytes.", "It is available in {n} languages.", "The first version came out in {y}.", "The {k} was developed in {city}.", "Accounts can be linked to a mail address.", "Version {n}.{n} was published in {y}."],
    "service": ["The {k} has offices in {city} and {n} other towns.", "Appointments can be made by telephone.", "It was founded by {p} in {y}.", "The contract runs for {m} months.", "The {k} employs {m} people.", "I signed the form on the {n}th."],
    "show": ["The {k} lasts {m} minutes with one break.", "It [runs|ran] in {city} until the {n}th of May.", "{p} wrote the {k} in {y}.", "Tickets are sold at the door.", "The {k} follows a {job} from {city} and a {kin}.", "In the first part a {job} receives a {obj}."],
}
JOBS = "baker detective teacher sailor nurse lawyer pianist farmer soldier clockmaker painter widow student pilot journalist thief priest gardener boxer librarian smuggler translator ferryman dancer".split()
KIN = "brother sister daughter father neighbour rival cousin friend stranger mother uncle colleague".split()
OBJECTS = "diary map violin key photograph ring manuscript letter suitcase painting boat compass mirror locket recipe radio".split()
TOTAL_LABELS = [[("positive", "the writer likes it"), ("negative", "the writer dislikes it")], [("favourable", "praise outweighs criticism"), ("unfavourable", "criticism outweighs praise")], [("thumbs_up", "a good review"), ("thumbs_down", "a bad review")],
                [("good", "satisfied"), ("bad", "not satisfied")], [("pos", "approving tone"), ("neg", "disapproving tone")], [("happy", "a happy customer"), ("unhappy", "an unhappy customer")], [("recommended", "the author advises in favour"), ("not_recommended", "the author advises against")],
                [("liked it", None), ("did not like it", None)], [("praise", "it is praised"), ("criticism", "it is criticised")], [("fan", "enthusiastic about it"), ("critic", "unimpressed by it")]]
MIXED_LABELS = [("mixed", "good and bad points balance"), ("ambivalent", "both praise and blame"), ("neutral or mixed", "neither clearly good nor bad")]
FACT_LABELS = [("neutral", "no opinion, only facts"), ("factual", "states facts without judging"), ("no opinion", "the text does not judge")]
ASK_TONE = ["What is the [sentiment|tone|attitude] of the [text|review|writer]?", "sentiment", "[Classify|Judge|Label] the [review|opinion|text].", "How does the [author|reviewer|writer] [feel about|see|rate] the {k}?", "Did the [writer|reviewer] like it?", "Is this a good or a bad review?", "polarity", "opinion of the [author|writer]", "overall verdict"]
STARS = [["1 star", "2 stars", "3 stars", "4 stars", "5 stars"], ["bad", "average", "good"], ["very negative", "negative", "mixed", "positive", "very positive"], ["terrible", "poor", "fair", "good", "excellent"], ["disliked it", "so-so", "liked it"],
         ["the writer hates it", "the writer is rather against it", "the writer is undecided", "the writer is rather for it", "the writer loves it"], ["0 of 3 points", "1 of 3 points", "2 of 3 points", "3 of 3 points"]]
FRAMES = ["{t}"] * 12 + ["Review: {t}", "{name} writes: {t}", "\"{t}\"", "{T}: {t}", "[{K}] {t}", "Customer feedback ({name}): {t}", "Comment #{r}: {t}"]


def slots_for(kind: str, rng: random.Random) -> dict:
    return {"k": rng.choice(KINDS[kind][0]), "ga": GOOD_ADJ, "ba": BAD_ADJ, "gn": GOOD_NOUN, "bn": BAD_NOUN, "w": ["wife", "husband", "brother", "friends", "mother", "colleagues", "kids", "flatmate"], "job": JOBS, "kin": KIN, "obj": OBJECTS,
            "city": CITIES, "p": f"{rng.choice(FIRST)} {rng.choice(LAST)}", "y": [str(y) for y in range(1950, 2025)], "m": [str(m) for m in range(21, 190)], "n": [str(n) for n in range(4, 10)]}


def about(kind: str, aspect: str, good: bool, slots: dict, rng: random.Random) -> str:
    subject = expand(rng.choice(KINDS[kind][1][aspect][1]), rng, slots)
    return f"{subject} {expand(rng.choice(GOOD_VERDICTS if good else BAD_VERDICTS), rng, slots)}"


def whole(good: bool, slots: dict, rng: random.Random) -> str:
    pool = (GOOD_TURNS if good else BAD_TURNS) if rng.random() < 0.25 else GOOD_WHOLE if good else BAD_WHOLE
    return expand(rng.choice(pool), rng, slots)


def frame(parts: list[str], slots: dict, kind: str, rng: random.Random) -> str:
    text = " ".join(map(sentence, parts))
    if rng.random() < 0.2:
        text = text.lower() if rng.random() < 0.5 else text.replace(". ", rng.choice(["! ", " ... ", "; "]))
    shown = rng.choice(FRAMES)
    for key, value in {"t": text, "r": str(rng.randint(2, 900)), "name": rng.choice(FIRST), "T": slots["k"].capitalize(), "K": slots["k"]}.items():
        shown = shown.replace("{%s}" % key, value)
    return shown


def sentiment_choice(rng: random.Random, place: str, slots: dict, extras: tuple[str, ...] = ()):
    """place: good, bad, mixed or fact"""
    good, bad = rng.choice(TOTAL_LABELS)
    options = {"good": good, "bad": bad}
    if place == "mixed" or "mixed" in extras:
        options["mixed"] = rng.choice(MIXED_LABELS[:2] if place == "fact" or "fact" in extras else MIXED_LABELS)
    if place == "fact" or "fact" in extras:
        options["fact"] = rng.choice(FACT_LABELS)
    return choice(expand(rng.choice(ASK_TONE), rng, slots), list(options.values()), list(options).index(place), rng)


def opinion_kind(rng: random.Random, opinion: bool):
    pairs = [(("opinion", "a subjective judgement"), ("fact", "an objective statement or a summary")), (("subjective", "the writer's view"), ("objective", "facts or plot, no judgement")), (("review", "says whether it is good"), ("description", "says what it is or what happens")), (("evaluation", "judges"), ("information", "informs")),
             (("personal view", "how somebody felt about it"), ("plot or data", "what happens or how it is"))]
    pair = rng.choice(pairs)
    if rng.random() < 0.5:
        return choice(rng.choice(["Is this an opinion or a fact?", "Opinion or description?", "Subjective or objective?", "kind of text", "Does the text judge or inform?"]), list(pair), 0 if opinion else 1, rng)
    if rng.random() < 0.5:
        return claim(rng.choice(["The text expresses an opinion.", "The writer judges.", "The text is subjective.", "The text contains a personal view."]), opinion, rng)
    return claim(rng.choice(["The text only states facts.", "The text is objective.", "The text tells what happens without judging.", "The text gives no opinion."]), not opinion, rng)


def tone_claims(rng: random.Random, place: str, k: str) -> list:
    likes = [f"The writer likes the {k}.", "The review is positive.", f"The writer recommends the {k}.", "The writer is satisfied.", "The reviewer would choose it again.", "This is praise."]
    dislikes = [f"The writer dislikes the {k}.", "The review is negative.", f"The writer advises against the {k}.", "The writer is disappointed.", "The reviewer would not choose it again.", "This is a complaint or a pan."]
    found = [claim(rng.choice(likes), place == "good", rng), claim(rng.choice(dislikes), place == "bad", rng)]
    return [rng.choice(found)] if place in ("good", "bad") else found[: rng.randint(0, 1)]


def verdict(rng: random.Random) -> Example:
    """One clear opinion, perhaps with a concession."""
    kind = rng.choice(list(KINDS))
    slots, good = slots_for(kind, rng), rng.random() < 0.5
    aspects = rng.sample(list(KINDS[kind][1]), 2)
    parts = [whole(good, slots, rng)]
    for aspect in aspects[: rng.choice([0, 0, 1, 1, 2])]:
        parts.append(about(kind, aspect, good, slots, rng))
    concession = len(parts) > 1 and rng.random() < 0.25
    if concession:
        other = rng.choice([a for a in KINDS[kind][1] if a not in aspects])
        parts.insert(0, expand(rng.choice(["[although|even if] ", "[granted|admittedly], "]), rng) + about(kind, other, not good, slots, rng) + expand(rng.choice([", [on the whole|all in all] ", ", but "]), rng) + parts.pop(0))
    else:
        rng.shuffle(parts)
    if rng.random() < 0.3:
        parts.insert(0, expand(rng.choice(FACTS[kind]), rng, slots))
    place = "good" if good else "bad"
    found = [sentiment_choice(rng, place, slots, tuple(e for e in ("mixed", "fact") if not concession and rng.random() < 0.25)), *tone_claims(rng, place, slots["k"])]
    levels = rng.choice(STARS)
    n = len(levels)
    strong = 0.9 if concession else 0.8
    shares = {3: [0, 1 - strong, strong], 4: [0, 0.05, 0.35, 0.6], 5: [0, 0.0, 0.1, 0.35, 0.55] if concession else [0, 0, 0.03, 0.27, 0.7]}[n]
    if n == 3:
        shares = [0, 0.1, 0.9]
    found.append(score(expand(rng.choice(["How many stars?", "How good is the {k} for the writer?", "rating", "Rate the [tone|sentiment].", "How positive is it?"]), rng, slots), levels, shares if good else shares[::-1]))
    if rng.random() < 0.4:
        found.append(opinion_kind(rng, True))
    return Example(frame(parts, slots, kind, rng), rng.sample(found, rng.randint(2, len(found))))


def balanced(rng: random.Random) -> Example:
    """Aspects judged one by one."""
    kind = rng.choice(list(KINDS))
    slots, table = slots_for(kind, rng), KINDS[kind][1]
    names = rng.sample(list(table), rng.randint(2, 4))
    tones = {name: rng.random() < 0.5 for name in names}
    clauses = [about(kind, name, tones[name], slots, rng) for name in names]
    if len(set(tones.values())) == 2 and len(names) == 2 and rng.random() < 0.7:
        parts = [clauses[0] + rng.choice([", but ", ", whereas ", "; however, ", ", while ", ", yet "]) + clauses[1]]
    else:
        parts = clauses
    praised, blamed = [n for n in names if tones[n]], [n for n in names if not tones[n]]
    found = []
    if len(praised) == 1:
        found.append(choice(rng.choice(["What is praised?", "Which aspect does the writer like?", "best point", "Name the strength."]), [(n, table[n][0]) for n in [praised[0], *[n for n in table if n not in praised]]], 0, rng))
    if len(blamed) == 1:
        found.append(choice(rng.choice(["What is criticised?", "Which aspect does the writer dislike?", "weak point", "Name the weakness."]), [(n, table[n][0]) for n in [blamed[0], *[n for n in table if n not in blamed]]], 0, rng))
    unsaid = [n for n in table if n not in names]
    for name in rng.sample(names, 2):
        if rng.random() < 0.5:
            found.append(claim(rng.choice([f"The writer likes this: {name}.", f"{name.capitalize()} gets praise.", f"The review is positive about {name} ({table[name][0]})."]), tones[name], rng))
        else:
            found.append(choice(rng.choice([f"How does the writer see this: {name} ({table[name][0]})?", f"sentiment on {name}", f"{name}: praised or criticised?"]), [("praised", "a good word about it"), ("criticised", "a bad word about it"), ("not mentioned", "nothing is said about it")], 0 if tones[name] else 1, rng))
    if unsaid:
        name = rng.choice(unsaid)
        found.append(choice(f"What does the writer say about this: {name} ({table[name][0]})?", [("something good", None), ("something bad", None), ("nothing", None)], 2, rng))
        truth = rng.random() < 0.5
        asked = rng.choice(names) if truth else name
        found.append(claim(f"The text says something about {asked} ({table[asked][0]}).", truth, rng))
    if len(praised) == len(blamed):
        parts.insert(rng.choice([0, len(parts)]), expand(rng.choice(MIXED_WHOLE), rng, slots))
        found.append(sentiment_choice(rng, "mixed", slots, ("fact",) if rng.random() < 0.3 else ()))
        levels = rng.choice([levels for levels in STARS if len(levels) % 2])
        found.append(score("How positive is the review?", levels, [0, 1, 0] if len(levels) == 3 else [0.02, 0.14, 0.68, 0.14, 0.02]))
    elif not praised or not blamed:
        found.append(sentiment_choice(rng, "good" if praised else "bad", slots, ("mixed",) if rng.random() < 0.5 else ()))
    return Example(frame(parts, slots, kind, rng), rng.sample(found, min(len(found), rng.randint(2, 5))))


def facts(rng: random.Random) -> Example:
    kind = rng.choice(list(KINDS))
    slots = slots_for(kind, rng)
    parts = [expand(line, rng, slots) for line in rng.sample(FACTS[kind], rng.randint(1, 3))]
    found = [opinion_kind(rng, False), sentiment_choice(rng, "fact", slots, ("mixed",) if rng.random() < 0.3 else ())]
    if rng.random() < 0.4:
        found.append(claim(rng.choice([f"The writer recommends the {slots['k']}.", "The text praises something.", "The text contains criticism."]), False, rng))
    return Example(frame(parts, slots, kind, rng), rng.sample(found, rng.randint(1, len(found))))


def generate(rng: random.Random) -> Example:
    return rng.choices([verdict, balanced, facts], [5, 3, 2])[0](rng)
