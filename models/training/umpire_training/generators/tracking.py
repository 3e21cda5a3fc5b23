"""State tracking: moves, hand-overs, counts, status changes and details given in a dialogue; what holds now, what ever held."""

from __future__ import annotations

import random

from ..tasks import Example
from .common import choice
from .phrases import CITIES, claim, expand, others, people, sentence

THINGS = """key ball letter laptop umbrella passport torch map book suitcase camera guitar lantern parcel ring cup notebook microphone badge ticket drill ladder scarf blanket hammer
bicycle folder trophy drone tablet charger helmet painting clock whistle thermos projector rope coin bottle stapler teapot violin telescope wrench compass vase radio sewing-kit
chessboard mug tent shovel bucket basket jacket helmet flute atlas calculator toolbox stethoscope pram skateboard kettle mirror candle jar bell sample prototype receipt""".split()
THINGS = list(dict.fromkeys(THINGS))
PLACES = """kitchen garage garden office cellar attic library hallway bathroom bedroom shed workshop balcony lobby canteen archive laboratory classroom warehouse gym greenhouse studio
barn pantry terrace garret chapel courtyard storeroom cloakroom laundry nursery dining-room meeting-room reception server-room staff-room waiting-room boathouse pavilion""".split()
LINKS = ["", "", "", "Then ", "[Later|After that|Afterwards], ", "[A little later|Soon after|In the afternoon|After lunch], ", "[Next|Shortly after], "]
GIVES = ["{a} [gives|hands|passes] the {t} to {b}.", "{a} [gave|handed|passed|brought] {b} the {t}.", "{b} [takes|gets|receives|borrows] the {t} from {a}.", "The {t} goes from {a} to {b}.", "{a} lends the {t} to {b}.", "{b} buys the {t} from {a}.", "{b} [is given|was handed] the {t} by {a}."]
HAS = ["{a} [has|holds|owns|carries|keeps] the {t}.", "The {t} [belongs to|is with|is held by] {a}.", "At [first|the start], the {t} is with {a}.", "{a} brings [along a {t}|the {t}]."]
NOISE = ["It starts to rain.", "{a} [laughs|sighs|nods|yawns].", "{a} and {b} talk about the {t}.", "{a} makes some coffee.", "{a} would like to have the {t} but says nothing.", "{b} asks for the {t}, [but|yet] {a} shakes the head.", "A phone rings.", "{a} calls {b}.",
         "{a} looks at the {t} of {b}.", "Nobody says a word.", "The lights go out for a moment.", "{a} remembers an old song.", "Everybody waits."]
WHO_NOW = ["Who has the {t} [now|at the end|in the end]?", "[Where|With whom] is the {t} [now|at the end]?", "[current|present|final] holder of the {t}", "Name the person who holds the {t} at the end.", "Who holds the {t} after all this?"]


def join(lines: list[str], rng: random.Random) -> str:
    if rng.random() < 0.2:
        return "\n".join(f"{i}. {line}" for i, line in enumerate(lines, 1))
    if rng.random() < 0.15:
        return "\n".join(f"{8 + i // 4:02d}:{(i % 4) * 15 + i % 7:02d} {line}" for i, line in enumerate(lines))
    return rng.choice([" ", " ", "\n"]).join(lines)


def linked(line: str, rng: random.Random) -> str:
    link = expand(rng.choice(LINKS), rng)
    lowered = link and line.startswith(("The ", "A ", "Someone ", "Nobody ", "Everybody ", "It "))
    return sentence(link + (line[0].lower() + line[1:] if lowered else line))


def handovers(rng: random.Random) -> Example:
    names, things = people(rng, rng.randint(2, 5)), rng.sample(THINGS, rng.randint(1, 4))
    lines, holders = [], {}
    for thing in things:
        holders[thing] = [rng.choice(names)]
        lines.append(sentence(expand(rng.choice(HAS), rng, {"a": holders[thing][0], "t": thing})))
    for _ in range(rng.choice([0, 1, 2, 3, 4, 5, 7, 12, 25 if rng.random() < 0.3 else 6])):
        thing = rng.choice(things)
        giver = holders[thing][-1]
        taker = rng.choice([name for name in names if name != giver])
        if rng.random() < 0.25:
            owner = rng.choice(names)
            other = rng.choice([name for name in names if name != owner])
            own = [t for t in things if holders[t][-1] == (other if rng.random() < 0.5 else owner)] or [thing]
            line = expand(rng.choice(NOISE), rng, {"a": owner, "b": other, "t": rng.choice(own)})
        else:
            line = expand(rng.choice(GIVES), rng, {"a": giver, "b": taker, "t": thing})
            holders[thing].append(taker)
        lines.append(linked(line, rng))
    found = []
    for thing in rng.sample(things, min(2, len(things))):
        now, past = holders[thing][-1], holders[thing]
        found.append(choice(expand(rng.choice(WHO_NOW), rng, {"t": thing}), [(now, None), *((n, None) for n in names if n != now)], 0, rng))
        truth = rng.random() < 0.5
        earlier = [n for n in dict.fromkeys(past) if n != now]
        wrong = rng.choice(earlier) if earlier and rng.random() < 0.6 else rng.choice([n for n in names if n != now])
        statement = expand(rng.choice(["{n} [has|holds] the {t} [now|at the end].", "[In the end|At the end], the {t} is with {n}.", "The {t} is now with {n}."]), rng, {"n": now if truth else wrong, "t": thing})
        found.append(claim(statement, truth, rng))
        never = [n for n in names if n not in past]
        if never:
            truth = rng.random() < 0.5
            who = rng.choice(past) if truth else rng.choice(never)
            found.append(claim(expand(rng.choice(["{n} [had|held] the {t} at some [point|time].", "The {t} was with {n} at least once.", "{n} has [ever |]had the {t}."]), rng, {"n": who, "t": thing}), truth, rng))
        if len(set(past)) > 1:
            found.append(choice(expand(rng.choice(["Who had the {t} first?", "Who [held|had] the {t} at the start?", "first holder of the {t}"]), rng, {"t": thing}), [(past[0], None), *((n, None) for n in names if n != past[0])], 0, rng))
    kept = [n for n in names if not any(holders[t][-1] == n for t in things)]
    if kept and len(kept) < len(names):
        truth = rng.random() < 0.5
        who = rng.choice(kept) if truth else rng.choice([n for n in names if n not in kept])
        found.append(claim(expand("[At the end|In the end], {n} [has none of the things|is left with nothing|holds nothing].", rng, {"n": who}), truth, rng))
    return Example(join(lines, rng), rng.sample(found, min(len(found), rng.randint(2, 5))))


MOVES = ["{a} [walks|goes|moves|runs|heads] [to|into] the {p}.", "{a} [enters|comes into] the {p}.", "{a} [is now in|arrives in|leaves for] the {p}."]
CARRIES = ["{a} [takes|carries|brings|moves] the {t} [to|into] the {p}.", "The {t} is [taken|moved|brought] [to|into] the {p} by {a}.", "{a} puts the {t} in the {p}.", "{a} [leaves|drops|forgets] the {t} in the {p}."]
START = ["The {t} [is|lies|stands] in the {p}.", "In the {p} there is a {t}.", "One finds the {t} in the {p}."]
ORDINARY = ["The {p} is [quiet|empty|cold] today.", "Someone cleans the {p}.", "The door of the {p} squeaks.", "{a} thinks about the {p}.", "{a} wants to bring the {t} to the {p} some day.", "{a} asks whether the {t} is in the {p}; nobody answers."]


def rooms(rng: random.Random) -> Example:
    places, things, names = rng.sample(PLACES, rng.randint(3, 7)), rng.sample(THINGS, rng.randint(1, 4)), people(rng, rng.randint(1, 4))
    where, lines = {thing: [rng.choice(places)] for thing in things}, []
    for thing in things:
        lines.append(expand(rng.choice(START), rng, {"t": thing, "p": where[thing][0]}))
    stands = {}
    for _ in range(rng.choice([1, 2, 3, 4, 6, 9, 14, 30 if rng.random() < 0.25 else 5])):
        who, place, kind = rng.choice(names), rng.choice(places), rng.random()
        thing = rng.choice(things)
        if kind < 0.45:
            place = rng.choice([p for p in places if p != where[thing][-1]])
            line = expand(rng.choice(CARRIES), rng, {"a": who, "t": thing, "p": place})
            where[thing].append(place)
            stands.pop(who, None)
        elif kind < 0.75:
            line, stands[who] = expand(rng.choice(MOVES[:2]), rng, {"a": who, "p": place}), place
        else:
            line = expand(rng.choice(ORDINARY), rng, {"a": who, "t": thing, "p": place})
        lines.append(linked(line, rng))
    found = []
    for thing in rng.sample(things, min(2, len(things))):
        now, past = where[thing][-1], where[thing]
        wrong = [p for p in dict.fromkeys(past) if p != now] + others(now, places, 3, rng)
        shown = [now, *others(now, wrong, rng.randint(1, 5), rng)]
        found.append(choice(expand(rng.choice(["Where is the {t} [now|at the end]?", "[final|current] place of the {t}", "In which room is the {t} [now|after all this]?", "Find the {t}.", "Where would you look for the {t} now?"]), rng, {"t": thing}), [(p, None) for p in shown], 0, rng))
        truth = rng.random() < 0.5
        found.append(claim(expand("The {t} [is now|is at the end|ends up] in the {p}.", rng, {"t": thing, "p": now if truth else wrong[0] if rng.random() < 0.6 else rng.choice(wrong)}), truth, rng))
        unseen = [p for p in places if p not in past]
        if unseen:
            truth = rng.random() < 0.5
            found.append(claim(expand("The {t} [was in the {p} at some time|has been in the {p}].", rng, {"t": thing, "p": rng.choice(past if truth else unseen)}), truth, rng))
        truth = rng.random() < 0.5
        if truth == (len(past) > 1) or rng.random() < 0.5:
            found.append(claim(expand("The {t} [was moved|changed its place].", rng, {"t": thing}), len(past) > 1, rng))
    if stands:
        who = rng.choice(list(stands))
        found.append(choice(expand(rng.choice(["Where is {n} [now|at the end]?", "To which room did {n} go last?"]), rng, {"n": who}), [(p, None) for p in [stands[who], *others(stands[who], places, 3, rng)]], 0, rng))
    return Example(join(lines, rng), rng.sample(found, min(len(found), rng.randint(2, 5))))


# Ladders of statuses: subject names, statuses with descriptions, and the sentences that say so.
FLOWS = {
    "order": (["Order", "Purchase", "Shipment"], {"placed": "the customer has ordered", "paid": "the money has come in", "packed": "the goods are in the box", "shipped": "the goods are on their way", "delivered": "the customer has the goods", "returned": "the customer sent the goods back", "refunded": "the money was paid back", "cancelled": "the order was called off"}),
    "ticket": (["Ticket", "Incident", "Case"], {"open": "reported, nobody works on it", "assigned": "somebody is responsible", "in progress": "somebody works on it", "waiting": "an answer from outside is needed", "resolved": "the problem is gone", "closed": "nothing more will be done", "reopened": "the problem came back"}),
    "application": (["Application", "Candidate file", "Dossier"], {"received": "the papers have come in", "screened": "the papers were read", "invited": "an interview is planned", "interviewed": "the interview took place", "offered": "the job was offered", "accepted": "the candidate said yes", "rejected": "the candidate was turned down", "withdrawn": "the candidate gave up"}),
    "patch": (["Pull request", "Patch", "Change"], {"draft": "not ready for review", "in review": "others read it", "changes requested": "the author must improve it", "approved": "it may be merged", "merged": "it is in the main branch", "reverted": "it was taken out again", "abandoned": "nobody goes on with it"}),
    "patient": (["Patient", "Case", "Bed"], {"admitted": "came to the ward", "examined": "seen by a doctor", "in surgery": "being operated on", "recovering": "after the operation", "transferred": "moved to another ward", "discharged": "went home"}),
    "flight": (["Flight", "Charter", "Service"], {"scheduled": "planned", "delayed": "will leave later", "boarding": "passengers get in", "departed": "has left", "diverted": "goes to another airport", "landed": "is on the ground", "cancelled": "does not go at all"}),
    "machine": (["Press", "Pump", "Robot", "Lathe"], {"idle": "waits for work", "running": "works", "overheated": "too hot", "stopped": "halted by somebody", "under repair": "a technician works on it", "tested": "was tried out after repair", "retired": "taken out of service"}),
    "loan": (["Loan", "Credit request", "Mortgage"], {"requested": "asked for", "checked": "income was looked at", "approved": "the bank agreed", "paid out": "the money was sent", "in arrears": "instalments are late", "repaid": "all was paid back", "denied": "the bank said no"}),
    "house": (["Flat", "House", "Listing"], {"listed": "on the market", "viewed": "people came to see it", "reserved": "held for someone", "rented": "a tenant has signed", "vacated": "the tenant moved out", "renovated": "was done up", "sold": "a buyer paid"}),
    "deployment": (["Release", "Build", "Service"], {"queued": "waits to be built", "building": "is being compiled", "staged": "runs on the test system", "live": "users have it", "rolled back": "the old version is on again", "failed": "it broke off", "archived": "kept for the record only"}),
}
STATUS_LINES = ["{d} {s} {i}: {v}", "{d} - {s} {i} -> {v}", "[{d}] {s} {i} is {v}.", "{d}: status of {s} {i} set to \"{v}\"", "{s} {i} [became|is now|was marked] {v} ({d})", "{d} {p} marked {s} {i} as {v}."]


def statuses(rng: random.Random) -> Example:
    kind = rng.choice(list(FLOWS))
    nouns, values = FLOWS[kind]
    noun, count = rng.choice(nouns), rng.choice([1, 1, 2, 2, 3])
    numbers = [str(n) for n in rng.sample(range(100, 9999), count)]
    history, lines, day = {n: [] for n in numbers}, [], rng.randint(1, 8)
    steps = rng.choice([1, 2, 3, 4, 6, 8, 12])
    for step in range(max(count, steps)):
        number = numbers[step] if step < count else rng.choice(numbers)
        value = rng.choice([v for v in values if v not in history[number][-1:]])
        history[number].append(value)
        day += rng.randint(0, 1)
        lines.append(expand(rng.choice(STATUS_LINES), rng, {"d": f"{'Mon Tue Wed Thu Fri'.split()[day % 5]} {day:02d}.", "s": noun, "i": number, "v": value, "p": people(rng, 1)[0]}))
    newest_first = rng.random() < 0.15
    text = "\n".join(["Log, newest entry first:", *reversed(lines)] if newest_first else lines)
    found = []
    for number in rng.sample(numbers, min(2, count)):
        past, now, name = history[number], history[number][-1], f"{noun} {number}"
        wrong = [v for v in dict.fromkeys(past) if v != now]
        shown = [now, *dict.fromkeys([*wrong, *others(now, list(values), 3, rng)])]
        found.append(choice(rng.choice([f"What is the latest status of {name}?", f"current status of {name}", f"How does {name} stand now?", f"Pick the present state of {name}."]), [(v, values[v]) for v in dict.fromkeys(shown)], 0, rng))
        truth = rng.random() < 0.5
        value = now if truth else rng.choice(wrong) if wrong and rng.random() < 0.7 else others(now, list(values), 1, rng)[0]
        found.append(claim(rng.choice([f"{name} is now {value}.", f"The latest status of {name} is {value}.", f"{name} currently counts as {value}."]), truth, rng))
        truth = rng.random() < 0.5
        value = rng.choice(past) if truth else rng.choice([v for v in values if v not in past] or past)
        found.append(claim(rng.choice([f"{name} was {value} at some point.", f"{name} was ever {value}.", f"The log says that {name} was {value} once."]), value in past, rng))
        if len(past) <= 4:
            found.append(choice(rng.choice([f"How often did the log set a status of {name}?", f"Number of entries about {name}"]), [(str(n), None) for n in [len(past), *others(str(len(past)), [str(n) for n in range(1, 13)], 3, rng)]], 0, rng, vary=False))
    return Example(text, rng.sample(found, min(len(found), rng.randint(2, 5))))


GOODS = "apples chairs screws bottles shirts batteries books lamps tyres towels plates bricks envelopes pumpkins cables helmets candles boots kettles seedlings masks tickets bandages filters jars panels mugs pallets rolls pens".split()
SPELLED = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def stock(rng: random.Random) -> Example:
    goods = rng.sample(GOODS, rng.randint(1, 3))
    count, changes, lines = {}, {g: [] for g in goods}, []
    for good in goods:
        count[good] = rng.randint(2, 9)
        lines.append(expand(rng.choice(["There are {n} {g} [in the store|on the shelf|in stock].", "We start with {n} {g}.", "The [shelf|store|van] holds {n} {g}.", "Opening count of {g}: {n}."]), rng, {"n": str(count[good]), "g": good}))
    for _ in range(rng.choice([1, 1, 2, 3, 4])):
        good = rng.choice(goods)
        change = rng.randint(1, 5) if rng.random() < 0.5 else -rng.randint(1, count[good]) if count[good] else rng.randint(1, 5)
        if rng.random() < 0.15 and count[good]:
            change = -count[good]
        count[good] += change
        changes[good].append(change)
        n = SPELLED[abs(change)] if abs(change) < 13 and rng.random() < 0.4 else str(abs(change))
        gone = change < 0 and count[good] == 0 and rng.random() < 0.5
        line = f"all {good} are [sold|taken away|used up|given away]." if gone else f"{n} {good} [arrive|are added|come in|are delivered]." if change > 0 else f"{n} {good} [are sold|are taken out|break|are given away|go missing]."
        lines.append(linked(sentence(expand(line, rng)), rng))
    found = []
    for good in goods:
        now = count[good]
        found.append(choice(rng.choice([f"How many {good} are there now?", f"{good} left", f"Number of {good} at the end", f"What is the final count of {good}?"]), [(str(n), None) for n in [now, *others(str(now), [str(n) for n in range(0, 16)], rng.randint(1, 4), rng)]], 0, rng, vary=False))
        if now == 0 or rng.random() < 0.2:
            found.append(claim(rng.choice([f"There are {good} left.", f"Some {good} remain."]), now > 0, rng))
        if changes[good]:
            found.append(choice(rng.choice([f"What happened to the {good} last?", f"last change to the {good}"]), [("added", f"{good} came in"), ("removed", f"{good} went out")], 0 if changes[good][-1] > 0 else 1, rng))
        moved, positive = bool(changes[good]), rng.random() < 0.5
        found.append(claim(f"The number of {good} {'changed' if positive else 'stayed the same'}.", moved == positive, rng))
    return Example(join(lines, rng), rng.sample(found, min(len(found), rng.randint(1, 4))))


# Dialogues: purpose, slots with (question, answer pattern, values).
BOOKINGS = [
    ("a table", {"day": ["Monday", "Tuesday", "Friday", "Sunday", "tomorrow"], "number of people": ["two", "three", "four", "six", "eight"], "time": ["noon", "half past six", "seven", "eight", "nine in the evening"], "seat": ["terrace", "window", "bar", "quiet corner"]}),
    ("a flight", {"destination": CITIES, "departure city": CITIES, "class": ["economy", "business", "first class"], "day": ["the 3rd of May", "Friday", "next Monday", "the 21st", "New Year's Eve"]}),
    ("a taxi", {"pick-up place": ["the station", "the hotel", "the airport", "my office", "the harbour"], "destination": ["the museum", "the hospital", "the stadium", "the old town", "the theatre"], "time": ["five", "six thirty", "midnight", "right now"], "number of people": ["one", "two", "three", "five"]}),
    ("a haircut", {"stylist": ["Mara", "Leo", "Nina", "anybody"], "day": ["Tuesday", "Wednesday", "Saturday", "the 12th"], "time": ["nine", "eleven", "two", "four"], "service": ["wash and cut", "colour", "beard trim", "perm"]}),
    ("a pizza", {"size": ["small", "medium", "large", "family"], "topping": ["mushrooms", "salami", "spinach", "tuna", "olives", "artichokes"], "drink": ["cola", "water", "lemonade", "beer"], "address": ["12 Mill Lane", "4 Park Row", "88 Station Road", "7 Castle Street"]}),
    ("a doctor's appointment", {"complaint": ["back pain", "a cough", "a rash", "headaches", "a check-up"], "day": ["Monday", "Thursday", "next week", "the 9th"], "insurance": ["private", "public"], "doctor": ["Dr Lund", "Dr Osei", "Dr Marsh", "Dr Kaur"]}),
    ("a hotel room", {"city": CITIES, "nights": ["one night", "two nights", "five nights", "a week"], "room": ["single", "double", "suite", "family room"], "breakfast": ["with breakfast", "without breakfast"]}),
    ("a repair", {"device": ["washing machine", "dishwasher", "laptop", "boiler", "fridge"], "brand": ["Norda", "Velux", "Kintaro", "Bremer", "Altura"], "problem": ["leaks", "does not start", "is too loud", "shows an error"], "day": ["today", "Friday", "next Tuesday", "the 30th"]}),
    ("concert tickets", {"artist": ["the Blue Herons", "Maia Lund", "the city orchestra", "Kofi and the Waves"], "city": CITIES, "number of tickets": ["one", "two", "four", "ten"], "category": ["standing", "balcony", "front row"]}),
    ("a rental car", {"city": CITIES, "size": ["compact", "estate", "van", "convertible"], "from": ["the 2nd", "Friday", "tomorrow", "Easter Monday"], "extra": ["child seat", "snow chains", "GPS", "roof box"]}),
]
SAY = ["[The|My] {s} [is|would be|should be] {v}.", "{s}: {v}", "{V}, please.", "As for the {s}, {v}.", "I'd say {v} for the {s}.", "Let's take {v} as the {s}.", "For the {s}: {v}."]
ASKS = ["What {s} would you like?", "[And|May I ask for] the {s}?", "Could you tell me the {s}?", "Which {s}?"]
CHANGES = ["[Actually|Sorry|Wait], make the {s} {v} [instead|rather than what I said].", "I changed my mind: {s} {v}.", "Correction, the {s} should be {v}.", "Can we switch the {s} to {v}?"]
CLOSES = {"thanks": ("the user says thanks", ["[Thanks|Thank you|Great, thanks]!", "[That's perfect, thank you|Thanks a lot] for your help."]), "cancels": ("the user calls it off", ["[Forget it|Never mind], [I don't need it any more|please cancel everything].", "Please cancel [all of |]it."]),
          "asks the price": ("the user wants to know the cost", ["How much [is|does|will] it [cost|come to]?", "What's the price?"]), "confirms": ("the user agrees", ["[Yes|Right|Exactly], [that's correct|go ahead|book it].", "Sounds good, please go ahead."]),
          "complains": ("the user is unhappy", ["This takes far too long.", "[Honestly|Really], this is [annoying|a waste of time].", "You keep asking me the same things."])}


def dialogue(rng: random.Random) -> Example:
    purpose, slots = rng.choice(BOOKINGS)
    given, changed, turns = {}, set(), [f"User: {expand('[Hi, |Hello, |]I [would like|want|need] [to book |to arrange |to order |]', rng)}{purpose}."]
    asked = rng.sample(list(slots), rng.randint(1, len(slots)))
    used: set[str] = set()
    for slot in asked:
        value = rng.choice([v for v in slots[slot] if v not in used])
        used.add(value)
        turns.append("Assistant: " + expand(rng.choice(ASKS), rng, {"s": slot}))
        turns.append("User: " + expand(rng.choice(SAY), rng, {"s": slot, "v": value, "V": value[0].upper() + value[1:]}))
        given[slot] = [value]
    if rng.random() < 0.45:
        slot = rng.choice(asked)
        left = [v for v in slots[slot] if v not in used]
        if left:
            given[slot].append(rng.choice(left))
            used.add(given[slot][-1])
            changed.add(slot)
            turns += ["Assistant: " + rng.choice(["Noted.", "Anything else?", "All right.", "Let me check."]), "User: " + expand(rng.choice(CHANGES), rng, {"s": slot, "v": given[slot][-1]})]
    found, last = [], None
    if rng.random() < 0.5:
        last = rng.choice(list(CLOSES))
        turns += ["Assistant: " + rng.choice(["Shall I go on?", "Is that all?", "I have put that down.", "One moment."]), "User: " + expand(rng.choice(CLOSES[last][1]), rng)]
        found.append(choice(rng.choice(["What does the last message do?", "Purpose of the last turn", "What does the user want with the latest message?"]), [(k, v[0]) for k, v in CLOSES.items()], list(CLOSES).index(last), rng))
    if rng.random() < 0.3:
        turns = [t.replace("User:", "Customer:").replace("Assistant:", "Agent:") for t in turns]
    missing = [s for s in slots if s not in given]
    for slot in rng.sample(list(slots), 2):
        now = given[slot][-1] if slot in given else "not stated"
        pool = [*given.get(slot, []), *others(now, slots[slot], 3, rng), "not stated"]
        if now != "not stated" and rng.random() < 0.4:
            pool.remove("not stated")
        found.append(choice(rng.choice([f"What {slot} does the user want?", f"value of {slot}", f"Which {slot} holds now?", f"{slot}", f"The user's {slot} is"]), [(v, None) for v in dict.fromkeys([now, *pool])], 0, rng))
        truth = rng.random() < 0.5
        pick = rng.choice(list(given)) if truth or not missing else rng.choice(missing)
        found.append(claim(rng.choice([f"The user has given the {pick}.", f"The {pick} is known by now.", f"The {pick} has been stated."]), pick in given, rng))
    slot = rng.choice(list(given))
    unsaid = [v for v in slots[slot] if v not in given[slot]]
    truth = rng.random() < 0.5
    value = given[slot][-1] if truth else given[slot][0] if slot in changed and (not unsaid or rng.random() < 0.7) else rng.choice(unsaid)
    found.append(claim(rng.choice([f"The {slot} now is {value}.", f"The user wants this as the {slot}, in the end: {value}.", f"The latest value of the {slot} is \"{value}\"."]), truth, rng))
    if missing:
        found.append(choice(rng.choice(["Which detail is still missing?", "What has not been said yet?", "What should the assistant ask next?"]), [(s, None) for s in [rng.choice(missing), *given]], 0, rng))
    if last != "cancels" and (changed or rng.random() < 0.4):
        found.append(claim(rng.choice(["The user changed a detail.", "The user corrected something said before.", "The user took back an earlier wish for one of the details."]), bool(changed), rng))
    return Example("\n".join(turns), rng.sample(found, min(len(found), rng.randint(2, 5))))


def board(rng: random.Random) -> Example:
    """A task board: columns with cards, cards move."""
    columns = rng.choice([["to do", "doing", "done"], ["backlog", "selected", "in review", "finished"], ["ideas", "planned", "running", "shipped"], ["inbox", "today", "waiting for others", "complete"]])
    verbs, things = "paint fix order clean test translate print draw sort write measure publish plan wash call update".split(), rng.sample(THINGS, 5)
    cards = [f"{verb} the {thing}" for verb, thing in zip(rng.sample(verbs, 5), things)][: rng.randint(2, 5)]
    owners = dict(zip(cards, people(rng, len(cards))))
    place = {card: rng.choice(columns) for card in cards}
    start = dict(place)
    lines = [f"{column}: {', '.join(c for c in cards if place[c] == column) or '-'}" for column in columns]
    if rng.random() < 0.5:
        lines += [f"{owner} is responsible for \"{card}\"." for card, owner in owners.items()]
        owned = True
    else:
        owned = False
    for _ in range(rng.randint(0, 6)):
        card = rng.choice(cards)
        place[card] = rng.choice([c for c in columns if c != place[card]])
        who = owners[card]
        lines.append(expand(rng.choice(["\"{c}\" [moves|goes|is moved] to {p}.", "{w} [drags|puts|moves] \"{c}\" to {p}.", "Card \"{c}\" is now under {p}."]), rng, {"c": card, "p": place[card], "w": who}))
    found = []
    for card in rng.sample(cards, 2):
        now = place[card]
        found.append(choice(rng.choice([f"In which column is \"{card}\" now?", f"column of \"{card}\"", f"How far is the card \"{card}\"?"]), [(c, None) for c in columns], columns.index(now), rng))
        truth = rng.random() < 0.5
        wrong = start[card] if start[card] != now and rng.random() < 0.7 else rng.choice([c for c in columns if c != now])
        found.append(claim(f"The card \"{card}\" is now in the column \"{now if truth else wrong}\".", truth, rng))
        if owned:
            found.append(choice(f"Who is responsible for \"{card}\"?", [(o, None) for o in owners.values()], cards.index(card), rng))
    return Example("\n".join(lines), rng.sample(found, min(len(found), rng.randint(2, 4))))


def generate(rng: random.Random) -> Example:
    kinds = [handovers, rooms, statuses, stock, dialogue, board]
    return rng.choices(kinds, [3, 3, 2, 1, 4, 1])[0](rng)
