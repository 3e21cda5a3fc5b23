"""Short questions and which kind of answer they want; sentences and what they do, their tense, their form."""

from __future__ import annotations

import random
import re

from ..tasks import Example
from .common import choice
from .phrases import CITIES, FIRST, LAST, claim, expand, sentence

# kind of answer -> (names with one meaning, description, patterns)
KINDS = {
    "person": (["person", "somebody's name", "individual"], "the name of a person", ["Who [invented|discovered|designed|built|founded|wrote|painted] the {thing}?", "Whose [idea|house|voice|signature] is [on|behind] the {thing}?", "Which {job} [won|directed|led|signed] the {event} [of {y}|]?", "[Name|Tell me] the {job} who [saved|sold|broke] the {thing}.", "By whom was the {thing} [stolen|repaired|ordered]?",
               "Who is the [head|owner|captain|mayor] of {place}?", "Who [was|is] {w}'s [first wife|successor|teacher]?", "Who [should I ask|is in charge] when the {thing} breaks?"]),
    "place": (["place", "where", "site"], "a spot, town or country", ["Where [is|was] the {thing} [made|kept|found|shown]?", "In which [city|country|region|street] did the {event} [happen|take place|begin]?", "Where does {w} [live|work|come from]?", "Where can I [buy|park|return|rent] the {thing}?", "From which [harbour|airport|town] does the [ferry|plane|bus] to {place} leave?", "What [city|country|island|valley] [has|lies] the {adj} {thing}?", "[What|Which] is the capital of {land}?", "Where do {animals} [sleep|breed|spend the winter]?"]),
    "date": (["date", "point in time", "when"], "a day, year or time", ["When [was|is] the {event}?", "[In|During] what year did {w} [die|marry|move to {place}]?", "When did the {thing} [first appear|go out of use|break]?", "What time does the [shop|museum|bank] in {place} [open|close]?", "On which day [starts|ends] the {event}?", "[By|Until] when must the {thing} be [paid|returned|delivered]?", "What date is printed on the {thing}?", "Since when do people keep {animals}?"]),
    "quantity": (["quantity", "how many or how much", "amount"], "a count or a measure", ["How many {things} [are in|fit into|does one need for] a {thing}?", "How much does a {thing} [weigh|cost|hold]?", "How [long|tall|deep|heavy|wide|far] is the [{adj} |]{thing}?", "What is the [number|share|percentage] of {animals} in {land}?", "How often [does|should] one [clean|check|paint] the {thing}?", "How old [is|was] {w} at the {event}?", "What is the [speed|weight|price|height|temperature] of a {thing}?", "How many people live in {place}?"]),
    "reason": (["reason", "why", "cause"], "the cause of something or an explanation of it", ["Why [is|was] the {thing} [so {adj}|broken|forbidden]?", "What [makes|made] {animals} [leave|sing|fight]?", "Why did {w} [quit|sell the {thing}|miss the {event}]?", "For what reason was the {event} [moved|cancelled]?", "How come the {thing} is {adj}?", "What [caused|led to] the {event} [in {place}|of {y}]?", "What is the cause of the {adj} smell of the {thing}?", "Why do [people|children|so many] [like|avoid|collect] {things}?"]),
    "procedure": (["procedure", "how to do it", "instructions"], "steps to follow", ["How do I [clean|repair|install|open|sharpen|build|fold|paint] [a|the] {thing}?", "How can one [keep|feed|train|catch] {animals}?", "What steps [are needed|does it take] to [renew|cancel|register] a {thing}?", "How do you [remove|get rid of] [stains|rust|dust] from a {thing}?", "What is the best way to [move|store|pack|wash] a {thing}?", "How would you [prepare for|organise] the {event}?", "[Show|Tell] me how to [fix|replace|assemble] the {thing}.", "What do I have to do in order to [sell|import] a {thing}?"]),
    "yes or no": (["yes or no", "confirmation", "yes/no"], "yes or no", ["[Is|Was] the {thing} [still |really |]{adj}?", "[Can|Do|Could] {animals} [swim|fly|see colours|live in {land}]?", "Did {w} [attend|win|miss] the {event}?", "Are there [any |]{animals} in {place}?", "Has the {thing} been [repaired|sold|delivered]?", "Is it [true|possible|allowed] [that the {thing} is {adj}|to touch the {thing}]?", "Does {place} have a {thing}?", "Will the {event} [be shown on television|take place indoors]?", "Should I [wash|insure|cover] the {thing}?"]),
    "comparison": (["comparison", "difference", "contrast"], "how two things differ", ["What is the difference between [a|the] {thing} and [a|the] {thing}?", "How does a {thing} [compare to|differ from] a {thing}?", "[In what way|How] are {animals} unlike {animals}?", "What distinguishes {place} from {place}?", "What do {things} and {things} [have in common|not share]?", "How do life in {place} and life in {place} differ?", "What [sets|tells] a {adj} {thing} [apart from|from] a {adj} one?"]),
    "definition": (["definition", "meaning", "what it means"], "what a word or thing is", ["What is a {thing}?", "What does the word \"{thing}\" mean?", "Define \"{thing}\".", "What [exactly |]is meant by \"{adj}\"?", "What are {animals}?", "Explain the term \"{event}\".", "What does \"{adj}\" [mean|stand for] in [plain|simple] words?", "What is the meaning of [the expression |]\"a {adj} {thing}\"?", "What do we call a \"{thing}\" and what is it?"]),
    "organisation": (["organisation", "company or institution", "group of people with a name"], "a firm, club, authority or party", ["Which [company|firm|club|authority|agency|party|bank] [makes|sells|checks|insures] the {thing}?", "What [organisation|ministry|charity] [protects|counts|feeds] {animals}?", "[For which|What] [team|orchestra|newspaper] does {w} [play|work] for?", "Which university did {w} [attend|leave]?", "What [firm|brand] is behind the {thing}?", "Which [union|association] called the {event}?", "Name the [company|publisher|institute] that [owns|prints|tests] {things}."]),
    "language": (["language", "tongue"], "a language people speak", ["What language [is spoken|do people speak] in {land}?", "In which language is the {thing} [written|labelled]?", "From which language comes the word \"{thing}\"?", "What [tongue|language] did {w} speak [at home|as a child]?", "Into which languages was the [book|song] about the {thing} translated?", "Which languages are taught in {place}?"]),
    "colour": (["colour", "color", "hue"], "a colour", ["What colo[u|]r [is|was|has] the {thing}?", "Which colo[u|]r do {animals} [have|turn] in winter?", "In what colo[u|]r should I paint the {thing}?", "What colo[u|]rs are on the flag of {land}?", "What shade [is|was] the {thing} of {w}?", "Which colo[u|]r goes with a {adj} {thing}?"]),
    "full form": (["full form of an abbreviation", "expansion", "what the letters mean"], "the words behind some letters", ["What does {abbr} stand for?", "What is {abbr} short for?", "[Expand|Spell out] the letters {abbr}.", "What do the letters {abbr} on the {thing} mean?", "What is the long form of {abbr}?", "{abbr} is an acronym for what?"]),
    "animal": (["animal", "creature", "species"], "a kind of animal", ["[What|Which] animal [sleeps|jumps|runs|lives] [longest|fastest|highest|in a {thing}]?", "What [species|kind of bird|insect|fish] is on the {thing}?", "Which pet does {w} keep?", "What creature [guards|destroys|looks like] a {thing}?", "Which mammal is the most {adj}?", "Which animal [is on|decorates] the coat of arms of {land}?"]),
    "food": (["food or drink", "dish"], "something to eat or drink", ["What [dish|dessert|soup|drink] is {place} known for?", "What did {w} [eat|cook|drink] [before|after] the {event}?", "What do {animals} eat?", "Which [spice|vegetable|fruit|cheese] goes into [the|a] {adj} [sauce|stew|pie]?", "What do people [drink|eat] at the {event}?", "Which [meal|sandwich] comes with the {thing}?"]),
    "sport": (["sport or game", "athletic discipline"], "a sport or a game", ["What sport does {w} play?", "In which [game|sport] does one use a {thing}?", "What [sport|discipline] was dropped from the {event}?", "Which [sport|game] is most popular in {land}?", "For what sport is {place} famous?"]),
    "list": (["list", "several items", "enumeration"], "several things one after another", ["[Name|List|Give me] {n} {things} [that are {adj}|from {land}].", "What are the [parts|kinds|members|rules] of a {thing}?", "Which {things} should I [pack|bring] for the {event}?", "[List|Enumerate] all the {animals} found in {land}.", "What are {n} [things|ways] to [spot|avoid] {animals}?"]),
    "advice": (["advice", "recommendation", "suggestion"], "what one ought to choose or do", ["Which {thing} would you recommend?", "What should I [wear|bring|say] [at|to] the {event}?", "Is it better to [buy|rent] a {thing} or to [borrow|build] one?", "What would you do [about|with] a {adj} {thing}?", "Any tips on choosing a {thing}?", "Which {things} are worth the money?"]),
}
WORDS = {
    "thing": "bridge violin tent ladder stove clock compass lantern kettle piano bicycle chair mirror engine wallet helmet barrel curtain statue fountain carpet lighthouse telescope passport invoice contract certificate elevator fridge tractor umbrella scooter boiler kayak hammock tunnel chimney drum candle toaster sofa battery radar printer telegraph sundial treadmill microscope anchor windmill calendar backpack".split(),
    "things": "bricks screws coins stamps candles buttons tickets blankets bottles spoons postcards puzzles marbles batteries pencils chairs maps ropes plates tiles novels toys songs keys".split(),
    "animals": "bats storks bees wolves dolphins hedgehogs camels penguins owls spiders salmon squirrels goats turtles foxes ants crows seals moose lizards horses hamsters".split(),
    "event": ["election", "festival", "flood", "opening ceremony", "championship", "auction", "wedding", "strike", "eclipse", "harvest", "expedition", "exhibition", "great fire", "summit", "marathon", "premiere", "exam", "street parade", "landing", "coronation"],
    "land": ["Norway", "Peru", "Ghana", "Nepal", "Iceland", "Cuba", "Kenya", "Laos", "Malta", "Chile", "Estonia", "Jordan", "Oman", "Fiji", "Mongolia", "Uruguay", "Senegal", "Bhutan"], "adj": "old heavy fragile noisy tall cheap rare dangerous slow wet bright narrow smooth wooden popular quiet round dusty modern bitter".split(),
    "job": ["engineer", "queen", "architect", "singer", "captain", "chemist", "president", "poet", "explorer", "actor", "general", "surgeon", "coach"], "n": ["three", "four", "five", "six", "ten"],
    "abbr": ["NATO", "DNA", "GPS", "VAT", "RSVP", "LED", "PDF", "UNHCR", "CEO", "FAQ", "ISBN", "MRI", "ATM", "BBC", "EEG", "USB", "RAM", "LNG", "PIN", "SUV", "IQ", "DIY", "NGO", "RPM", "HTTP", "SCUBA", "GDP", "OPEC"],
}
ASKS = ["What kind of answer [does the question want|is wanted]?", "[answer type|expected answer|kind of answer]", "What is being asked for?", "The answer will be a …", "Which type of information does the user look for?", "Classify the question by the answer it needs.", "What must a reply contain?", "What does the asker want to know?"]
CLAIMS = ["The [question|asker] wants this: {d}.", "The answer is {d}.", "The question asks for {d}.", "Expected answer: {n}", "A good reply would be {d}.", "The asker looks for {d}."]


def slots(rng: random.Random) -> dict:
    return {**WORDS, "place": CITIES, "w": f"{rng.choice(FIRST)} {rng.choice(LAST)}", "y": str(rng.randint(1780, 2024))}


def question(rng: random.Random) -> Example:
    kind = rng.choice(list(KINDS))
    text = expand(rng.choice(KINDS[kind][2]), rng, slots(rng))
    if rng.random() < 0.12:
        text = rng.choice(["Hi! ", "Quick question: ", "I have been wondering. ", "For my homework: ", "Hey, ", "Q: "]) + text
    if rng.random() < 0.15:
        text = text.lower().rstrip("?.")
    # Close kinds that one question may want together are not shown side by side.
    close = {"definition": {"full form", "reason"}, "full form": {"definition"}, "list": {"animal", "procedure", "advice", "comparison"}, "advice": {"procedure", "yes or no", "list", "comparison"}, "procedure": {"advice", "list"}, "animal": {"list"}, "reason": {"definition"},
             "comparison": {"list", "reason", "advice", "definition"}, "organisation": {"person"}, "person": {"organisation"}, "food": {"list"}, "sport": {"list"}, "language": {"list"}, "colour": {"list"}, "yes or no": {"advice"}}
    free = [name for name in KINDS if name != kind and name not in close.get(kind, ())]
    names = [kind, *rng.sample(free, min(len(free), rng.choice([1, 2, 3, 4, 5, 7, 10])))]
    options = [(rng.choice(KINDS[name][0]) if rng.random() < 0.6 else name, KINDS[name][1]) for name in names]
    found = [choice(expand(rng.choice(ASKS), rng), options, 0, rng)]
    for _ in range(2):
        truth = rng.random() < 0.5
        asked = kind if truth else rng.choice(free)
        found.append(claim(expand(rng.choice(CLAIMS), rng, {"d": KINDS[asked][1], "n": rng.choice(KINDS[asked][0])}), truth, rng))
    return Example(text, rng.sample(found, rng.randint(2, 3)))


# What a sentence does -> (description, patterns)
SPEECH = {
    "request": ("asks somebody to do something", ["[Please|Kindly] [send|bring|lend|give] me the {thing}.", "[Could|Would|Can] you [please |][close|move|clean|check] the {thing}?", "[I would be glad|It would be nice] if you [returned|repaired] the {thing}.", "[Bring|Put|Leave] the {thing} [to the hall|here], please.", "Would you mind [holding|sharing] the {thing}?"]),
    "question": ("wants to know something", ["[Where|When] did you [buy|see|find] the {thing}?", "[Is|Was] the {thing} {adj}?", "Who [painted|moved] the {thing}?", "How [old|heavy] is the {thing}?", "Did {f} go to the {event}?", "Why is the {thing} {adj}?"]),
    "complaint": ("says that something is wrong and unpleasant", ["The {thing} is broken again[, and nobody cares|and I am fed up|].", "I [paid|waited] [a lot|for weeks] and the {thing} [still does not work|fell apart].", "It is [unacceptable|a disgrace] that the {thing} is [so {adj}|missing].", "This {thing} is [useless|the worst I ever had].", "Nobody [answers|helps] when the {thing} fails[, this is ridiculous|]."]),
    "thanks": ("expresses gratitude", ["[Thank you|Thanks|Many thanks] for the {thing}[!|, {f}.]", "I am [so |very |]grateful [for the {thing}|that you came to the {event}].", "[I really appreciate|We appreciate] your help with the {thing}.", "I owe you one for [fixing|lending me] the {thing}, {f}[.|!]"]),
    "statement": ("tells a fact", ["The {thing} [stands|lies] in {place}.", "{f} [owns|sells] {things}.", "There are {n} {animals} in the park.", "{place} has a {adj} {thing}.", "The {event} [began|ended] in {y}.", "{f} works [as a teacher|in {place}]."]),
    "promise": ("commits the speaker to something", ["I [promise|swear] to [return|repair|bring] the {thing}.", "You have my word: the {thing} will be [ready|there] on time.", "I will [definitely |certainly |][pay for|take care of|replace] the {thing}[, I promise|, you have my word].", "We guarantee that the {thing} [arrives|works] by Friday.", "[Count on me|Rely on me]: I will be at the {event}."]),
    "apology": ("says sorry", ["[Sorry|I am sorry|I am so sorry] [about|for losing|for breaking] the {thing}[.|, {f}.]", "[Please forgive me|I apologise] for [missing the {event}|the noise].", "It was my fault that the {thing} [broke|got lost], forgive me."]),
    "greeting": ("opens or closes a talk", ["[Hello|Hi|Good morning|Good evening], {f}[!|.]", "[Nice|Good] to [see|meet] you, {f}[!|.]", "[Goodbye|See you soon|Farewell], {f}[!|.]", "[Welcome|Hey], {f} and {f2}!"]),
    "warning": ("tells of a danger", ["[Careful|Watch out|Beware]: the {thing} is [hot|slippery|loose].", "[Never|Do not] touch the {thing}, [it is dangerous|you could get hurt].", "If you [open|move] the {thing}, it may [fall|explode]."]),
    "invitation": ("asks somebody to come along", ["[Would you like|Do you want] to [come|go] to the {event} with [me|us]?", "[Join us|Come along] for the {event} [on Sunday|in {place}]!", "You are [warmly |]invited to the {event}.", "Let's go to the {event} together!"]),
    "offer": ("proposes help or a thing", ["[Shall|Should] I [carry|fetch|repair] the {thing} for you?", "You [can|may] [have|use|borrow] my {thing} if you like.", "[Can|May] I [offer|get] you [a|the] {thing}?", "I could [help you with|lend you] the {thing} if you want."]),
    "refusal": ("says no to something", ["No, [I won't|I will not] [sell|lend you|move] the {thing}.", "I [refuse|decline] to [pay for|sign for|touch] the {thing}.", "[Certainly not|Out of the question]: the {thing} stays here."]),
    "congratulation": ("wishes somebody joy on a success", ["Congratulations on the {thing}, {f}!", "[Well done|Bravo], {f}, [what a performance|you earned it]!", "Happy birthday, {f}!"]),
}
TENSES = {"past": ("it happened before now", ["{f} [sold|painted|lost|carried|repaired] the {thing} [yesterday|last week|in {y}|].", "The {animals} [ran away|slept|fought] [last night|].", "We [were|stayed] in {place}.", "The {thing} was {adj}.", "They had [closed|moved] the {thing} before the {event}."]),
          "present": ("it is so now", ["{f} [sells|paints|carries|repairs] {things} [every day|].", "The {animals} [are sleeping|run around|fight] [now|at the moment|].", "We [are|live] in {place}.", "The {thing} is {adj}.", "They are [closing|moving] the {thing} right now."]),
          "future": ("it is still to come", ["{f} will [sell|paint|lose|carry|repair] the {thing} [tomorrow|next week|].", "The {animals} are going to [run away|sleep|fight].", "We [will be|are going to stay] in {place} [next year|].", "The {thing} will be {adj}.", "They will [close|move] the {thing} after the {event}."])}


def speech(rng: random.Random) -> Example:
    kind = rng.choice(list(SPEECH))
    text = expand(rng.choice(SPEECH[kind][1]), rng, {**slots(rng), "f": rng.choice(FIRST), "f2": rng.choice(LAST)})
    close = {"request": {"question", "offer", "invitation"}, "question": {"request", "invitation", "offer"}, "invitation": {"offer", "question", "request", "greeting"}, "offer": {"request", "question", "promise", "invitation"}, "warning": {"statement", "request", "complaint"}, "complaint": {"statement", "refusal", "warning"},
             "refusal": {"statement", "complaint", "promise"}, "promise": {"statement", "offer"}, "apology": {"complaint", "statement", "request"}, "thanks": {"statement"}, "statement": {"complaint"}, "greeting": {"invitation"}, "congratulation": {"thanks", "greeting", "statement"}}
    free = [name for name in SPEECH if name != kind and name not in close.get(kind, ())]
    names = [kind, *rng.sample(free, min(len(free), rng.randint(1, 7)))]
    found = [choice(rng.choice(["What does the sentence do?", "speech act", "Purpose of the sentence", "What is the speaker doing?", "intention", "Is this a request, a statement or something else?"]), [(n, SPEECH[n][0]) for n in names], 0, rng)]
    truth = rng.random() < 0.5
    asked = kind if truth else rng.choice(free)
    found.append(claim(rng.choice(["The speaker {d}.", "The sentence {d}.", "This {d}."]).replace("{d}", SPEECH[asked][0]), truth, rng))
    if re.search(r"\b(I|my|me|we|We|us|our)\b", text):
        found.append(claim(rng.choice(["The sentence is in the first person.", "The speaker speaks of himself, herself or the own group.", "The words I, me, my, we or us occur."]), True, rng))
    elif rng.random() < 0.8:
        found.append(claim(rng.choice(["The sentence is in the first person.", "The speaker speaks of himself, herself or the own group.", "The words I, me, my, we or us occur."]), False, rng))
    return Example(text, found)


EXTRAS = {"number": ("a number in digits", lambda rng: rng.choice([f"room {rng.randint(2, 900)}", f"{rng.randint(13, 990)} copies", f"gate {rng.randint(2, 60)}", f"{rng.randint(20, 99)} percent of them"])), "date": ("a calendar date", lambda rng: rng.choice([f"the {rng.randint(1, 28)}th of {rng.choice(MONTHS)}", f"{rng.choice(MONTHS)} {rng.randint(1, 28)}", f"{rng.randint(10, 28)}.{rng.randint(10, 12)}.2024"])),
          "name": ("the name of a person", lambda rng: f"{rng.choice(FIRST)} {rng.choice(LAST)}"), "city": ("the name of a city", lambda rng: rng.choice(CITIES)), "price": ("a sum of money", lambda rng: rng.choice([f"{rng.choice('€$£')}{rng.randint(2, 900)}", f"{rng.randint(2, 900)} dollars"])),
          "mail address": ("a mail address", lambda rng: f"{rng.choice(FIRST).lower()}@{rng.choice(['mail', 'office', 'web'])}.example"), "link": ("a web address", lambda rng: f"https://{rng.choice(WORDS['thing'])}.example/{rng.choice(WORDS['adj'])}"), "time": ("a time of day", lambda rng: f"{rng.randint(7, 22)}:{rng.choice(['05', '15', '30', '45'])}")}
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
NOTES = ["The {thing} was {adj} and [we|they] [moved|left] it there", "[Somebody|Nobody] [looked at|asked for] the {thing}", "[Remember|Note] the {thing}", "The {event} [was a success|went well]", "[We|They] [bought|saw] {things} and a {thing}"]
GLUE = [" ({})", ", see {}", ", keyword {}", ": {}", " - {}"]


def contents(rng: random.Random) -> Example:
    present = [name for name in EXTRAS if rng.random() < 0.4]
    rng.shuffle(present)
    text = expand(rng.choice(NOTES), rng, {**slots(rng)})
    for name in present[:4]:
        text += rng.choice(GLUE).format(EXTRAS[name][1](rng))
    present = present[:4]
    text = sentence(text)
    found = []
    askable = [n for n in EXTRAS if n in present or not (n == "number" and any(x in present for x in ("date", "price", "time"))) and not (n == "name" and "mail address" in present)]
    for name in rng.sample(askable, 4):
        found.append(claim(rng.choice([f"The text contains {EXTRAS[name][0]}.", f"There is {EXTRAS[name][0]} in the text.", f"contains: {name}"]), name in present, rng))
    absent = [n for n in askable if n not in present]
    if present and len(absent) > 1:
        found.append(choice(rng.choice(["Which of these does the text contain?", "What can be found in the text?"]), [(n, EXTRAS[n][0]) for n in [rng.choice(present), *rng.sample(absent, rng.randint(1, len(absent)))]], 0, rng))
    return Example(text, rng.sample(found, rng.randint(2, min(4, len(found)))))


def tense(rng: random.Random) -> Example:
    kind = rng.choice(list(TENSES))
    text = expand(rng.choice(TENSES[kind][1]), rng, {**slots(rng), "f": rng.choice(FIRST)})
    found = [choice(rng.choice(["tense", "Which tense is the sentence in?", "When does it happen?", "Past, present or future?"]), [(n, TENSES[n][0]) for n in TENSES], list(TENSES).index(kind), rng)]
    truth = rng.random() < 0.5
    asked = kind if truth else rng.choice([n for n in TENSES if n != kind])
    found.append(claim({"past": rng.choice(["It has already happened.", "The sentence is about the past."]), "present": "The sentence is about what is so now or in general.", "future": rng.choice(["It is still to come.", "The sentence is about the future."])}[asked], truth, rng))
    return Example(text, found)


def generate(rng: random.Random) -> Example:
    return rng.choices([question, speech, contents, tense], [6, 3, 1.5, 0.7])[0](rng)
