"""A question and an answer, judged by a rubric: which of the wanted parts the answer has, and how it is written."""

from __future__ import annotations

import random

from ..tasks import Example
from .common import choice, score
from .phrases import FIRST, claim, expand, sentence

# Facts for exam and how-to answers: question, key points (name, sentence of the answer), wrong or empty remarks about the subject.
SUBJECTS = [
    ("Why do leaves change colour in autumn?", [("loss of chlorophyll", "the tree [stops making|breaks down its] chlorophyll"), ("shorter days", "the days get shorter and [cooler|colder]"), ("hidden yellow pigments", "yellow pigments that were [hidden|covered] before become visible")]),
    ("How does a vaccine protect a person?", [("harmless part of the germ", "it contains a [harmless|weakened] part of the germ"), ("antibodies are made", "the body [makes|produces] antibodies"), ("memory of the immune system", "the immune system remembers the germ for years")]),
    ("Explain why ice floats on water.", [("lower density", "ice is less dense than water"), ("expansion when freezing", "water expands when it freezes"), ("structure of the crystal", "the molecules form an open crystal [lattice|structure]")]),
    ("What caused prices to rise so fast?", [("shortage of goods", "there were too few goods in the shops"), ("more money printed", "the state printed [more|a lot of] money"), ("higher wages", "wages went up [as well|everywhere]")]),
    ("How do you reset the router?", [("unplugging it", "pull the power plug"), ("waiting", "wait [half a minute|thirty seconds]"), ("checking the light", "[check|make sure] that the light turns green")]),
    ("How do you bake a simple sponge cake?", [("oven temperature", "heat the oven to 180 degrees"), ("mixing the ingredients", "beat [the eggs|the butter] with the sugar and fold in the flour"), ("baking time", "bake it for [thirty|forty] minutes")]),
    ("Describe how to change a flat tyre.", [("loosening the nuts", "loosen the wheel nuts [first|a little]"), ("lifting the car", "lift the car with the jack"), ("fitting the spare wheel", "put on the spare wheel and tighten the nuts crosswise")]),
    ("Why is the sky blue?", [("scattering", "the air scatters the light of the sun"), ("short wavelength", "blue light has a shorter wavelength"), ("sensitivity of the eye", "our eyes are less sensitive to violet")]),
    ("How does a bill become law?", [("debate", "members debate the text"), ("vote", "both chambers vote on it"), ("signature", "the head of state signs it")]),
    ("Why should passwords not be reused?", [("leak of one site", "one site may be hacked"), ("attackers try elsewhere", "attackers try the stolen password on other sites"), ("password manager as a remedy", "a password manager makes separate ones easy")]),
    ("How can a household save energy?", [("insulation", "insulate the roof and the walls"), ("lower heating", "turn the heating down [by one degree|at night]"), ("efficient lamps", "use LED lamps")]),
    ("What should one do after a bee sting?", [("removing the sting", "[remove|scrape out] the sting quickly"), ("cooling", "cool the skin with ice"), ("watching for an allergy", "call a doctor if breathing gets difficult")]),
    ("Why did the function return the wrong total?", [("off-by-one loop", "the loop stops one element too early"), ("wrong start value", "the sum starts at one instead of zero"), ("missing test", "no test covers an empty list")]),
    ("How do plants make their food?", [("light", "they [use|catch] sunlight"), ("water and carbon dioxide", "they take in water and carbon dioxide"), ("sugar and oxygen as results", "they [make|produce] sugar and give off oxygen")]),
    ("How do you prepare for a job interview?", [("research on the company", "read about the company [beforehand|in advance]"), ("practice of answers", "practise answers to typical questions"), ("own questions", "think of questions to ask them")]),
    ("Why did the team lose the match?", [("weak defence", "the defence left too much space"), ("injury of the captain", "the captain was injured"), ("missed penalties", "they missed two penalties")]),
    ("How do you plant a tree?", [("digging a hole", "dig a hole twice as wide as the roots"), ("watering", "water it [well|generously]"), ("support by a stake", "tie it to a stake")]),
    ("What makes a mortgage expensive?", [("interest rate", "the interest rate may be high"), ("long term", "the term runs for decades"), ("fees", "the bank charges [several|extra] fees")]),
    ("Explain how tides arise.", [("pull of the moon", "the gravity of the moon pulls the water"), ("rotation of the earth", "the earth turns under the bulge of water"), ("influence of the sun", "the sun makes the effect stronger or weaker")]),
    ("How is cheese made?", [("rennet", "rennet is added to the milk"), ("separating curds and whey", "the curds are separated from the whey"), ("ripening", "the cheese ripens in a cellar")]),
    ("How do I migrate the database?", [("backup", "take a backup [first|before anything else]"), ("running the scripts", "run the migration scripts in order"), ("checking the result", "compare the row counts afterwards")]),
    ("Why are bees important?", [("pollination", "they pollinate crops and wild plants"), ("food supply", "much of our fruit depends on them"), ("biodiversity", "many other animals live on the plants they visit")]),
    ("How do you calm a nervous dog?", [("quiet place", "bring it to a quiet [place|room]"), ("calm voice", "speak in a low, calm voice"), ("rewards", "reward it with treats when it relaxes")]),
    ("What should a good summary contain?", [("main idea", "it states the main idea"), ("own words", "it uses the writer's own words"), ("short length", "it is much shorter than the original")]),
    ("How does a refrigerator work?", [("evaporating liquid", "a liquid evaporates inside and takes up heat"), ("compressor", "a compressor squeezes the gas"), ("heat given off at the back", "the heat is given off at the back")]),
    ("Why do people move to cities?", [("jobs", "there are more jobs in the city"), ("schools and hospitals", "schools and hospitals are closer"), ("culture", "there is more culture and nightlife")]),
    ("How do you descale a kettle?", [("vinegar or citric acid", "fill it with water and [vinegar|citric acid]"), ("boiling", "bring it to the boil"), ("rinsing", "rinse it twice with clean water")]),
    ("How do you build a fire in a stove?", [("kindling", "stack small dry kindling"), ("air supply", "open the air vent fully"), ("larger logs later", "add larger logs once it burns well")]),
    ("Why was the train cancelled?", [("broken signal", "a signal near the station failed"), ("missing staff", "no driver was available"), ("storm damage", "a tree fell on the line")]),
    ("How do you write a unit test?", [("arranging the data", "set up the input data"), ("calling the function", "call the function under test"), ("asserting the result", "assert that the result is as expected")]),
    ("How does one learn a language quickly?", [("daily practice", "practise every day"), ("speaking with natives", "talk to native speakers"), ("vocabulary cards", "repeat words with flash cards")]),
    ("What are the duties of a landlord?", [("repairs", "the landlord must keep the flat in repair"), ("safety checks", "gas and electricity must be checked for safety"), ("return of the deposit", "the deposit must be paid back at the end")]),
]
EVASIONS = ["I don't know.", "[Good|Great|Interesting] question, [I would have to look that up|I have never thought about it].", "We did this in class but I forgot [it|everything].", "That depends on many things.",
            "Hard to say.", "[Sorry|Unfortunately], I [have no idea|cannot say].", "I think this is very important in our time.", "See the book, chapter {n}.", "No comment.", "My {kin} would know that.",
            "I like this subject a lot.", "Please ask someone else.", "[Well|Hm|Oh], many people wonder about this."]
KIN = ["brother", "teacher", "neighbour", "colleague", "uncle", "boss"]
LEADS = ["", "", "[Well|So|Basically|In short], ", "As far as I know, ", "[I think|I believe] ", "[First of all|To begin with], "]
LINKS = [". [Also|Besides|Moreover|In addition|Then|Next], ", ". ", "; [then|also] ", ", and ", ". After that, "]
FRAMES = ["Question: {q}\nAnswer: {a}", "Q: {q}\n\nA: {a}", "[Task|Exercise] {n}: {q}\n\n[Student|{name}] wrote: {a}", "{q}\n\n{a}", "## Prompt\n{q}\n## Response\n{a}",
          "{name} asked: \"{q}\"\n\nThe reply was: \"{a}\"", "User: {q}\nAssistant: {a}", "Examiner: {q}\nCandidate: {a}", "<question>{q}</question>\n<answer>{a}</answer>", "[Interviewer|Teacher]: {q}\n{name}: {a}"]
LEVELS = [["no answer", "partly answered", "fully answered"], ["nothing of the rubric", "one of three points", "two of three points", "all three points"],
          ["The answer does not address the question.", "The answer addresses the question but leaves important points out.", "The answer covers every point."],
          ["0 points", "1 point", "2 points", "3 points"], ["empty", "incomplete", "complete"], ["fail", "poor", "good", "excellent"],
          ["misses the question", "partly right", "mostly right", "complete"], ["none", "some", "all"]]


def exam_state(rng: random.Random, question: str, points: list[str]) -> str:
    if points:
        text = expand(rng.choice(LEADS), rng)
        for i, point in enumerate(points):
            clause = expand(point, rng)
            link = expand(rng.choice(LINKS), rng) if i else ""
            text += link + (sentence(clause).rstrip(".") if link.endswith(". ") else clause)
        answer = sentence(text)
    else:
        answer = expand(rng.choice(EVASIONS), rng, {"n": str(rng.randint(2, 19)), "kin": KIN})
    return expand(rng.choice(FRAMES), rng, {"q": question, "a": answer, "n": str(rng.randint(1, 30)), "name": rng.choice(FIRST)})


def exam(rng: random.Random) -> Example:
    question, points = rng.choice(SUBJECTS)
    count = rng.choice([0, 1, 2, 3])
    given = rng.sample(range(3), count)
    names = [name for name, _ in points]
    levels = rng.choice(LEVELS)
    place = count if len(levels) == 4 else (0, 1, 1, 2)[count]
    target = [float(i == place) for i in range(len(levels))]
    rubric = f"A full answer names: {'; '.join(names)}."
    asked = rng.choice(["Grade the answer. ", "How complete is the answer? ", "Score by the rubric. ", "Which level does the answer reach? ", "completeness. "]) + rubric
    found = [score(asked, levels, target)]
    for place in rng.sample(range(3), 2):
        name = names[place]
        statement = expand(rng.choice(["The answer [mentions|names|contains|brings up] this point: {p}.", "The point \"{p}\" is [covered|mentioned|part of the answer].", "[Mentioned|Covered|Present]: {p}",
                                       "The writer speaks of {p}."]), rng, {"p": name})
        found.append(claim(statement, place in given, rng))
    if count == 2:
        missing = next(i for i in range(3) if i not in given)
        found.append(choice(rng.choice(["What is missing?", "Which point does the answer leave out?", "Name the missing point.", "gap in the answer"]), [(n, None) for n in names], missing, rng))
    if count == 1:
        found.append(choice(rng.choice(["Which point does the answer name?", "What does the answer cover?", "Which of the points was made?"]), [(n, None) for n in names], given[0], rng))
    if count in (0, 3):
        found.append(claim(rng.choice(["The answer says something about the substance of the question.", "The answer is useful.", "The question is answered.", "The answer has real content."]), count == 3, rng))
    return Example(exam_state(rng, question, [points[i][1] for i in given]), rng.sample(found, rng.randint(2, len(found))))


# Replies put together from acts: a key, its description, sentences that do it.
ACTS = {
    "greeting": ("a greeting at the start", ["[Hello|Hi|Dear] {name},", "[Good morning|Good afternoon|Good evening] {name},", "Hey {name}!"]),
    "apology": ("an apology", ["[We are|I am] [very |truly |so |]sorry [for the trouble|that this happened|about the delay|for the mix-up|for keeping you waiting].", "[Please accept|We offer] our [sincere |]apologies.", "[I|We] apologise for [the inconvenience|this mistake|the wait|the confusion].",
                                   "[I|We] [deeply |really |]regret [the error|what went wrong|how this was handled]."]),
    "reason": ("the reason for what happened", ["[This|It] happened because {cause}.", "The [cause|reason] [is|was] that {cause}.", "{Cause}, which is why [you saw this|it went wrong|the {thing} was held up].", "As {cause}, [the {thing} got stuck|we could not finish in time].", "The {thing} was [affected|late|wrong] because {cause}."]),
    "next step": ("what the writer will do next", ["[I|We] will {promise}.", "[Our team|A colleague] is going to {promise}.", "[Next|As a next step], we {promise}.", "I have arranged for us to {promise}."]),
    "time": ("a time or date", ["[You can expect this|It will be done|This will take place] [by|on] {day}.", "It [takes|should take] [about |at most |]{n} [hours|working days|days|weeks].", "[Expect news|You will hear from us] [by {day}|within {n} days].", "The {thing} will be ready on the {n}th of {month}."]),
    "question": ("a question to the customer", ["Could you [send|tell] us {detail}?", "What is {detail}?", "May I ask [you for|for] {detail}?", "Would you [be so kind as to|please] confirm {detail}?"]),
    "compensation": ("an offer of money back or a gift", ["[We have added|You get|Here is] a [voucher|credit] of {amount} [for your next order|to your account].", "[We|I] [refund|have refunded] {amount} [to your card|in full].", "As a [small |]thank you, the next [month|delivery] is free.", "Please use the code {code} for {amount} off."]),
    "thanks": ("thanks", ["[Thank you|Thanks|Many thanks] for [writing|reaching out|your patience|your message|letting us know].", "[We|I] [really |]appreciate [your feedback|that you told us]."]),
    "contact": ("how to get in touch", ["You can [reach|call|ring] us [at|on] 0800 {n}{n}4 {n}1{n}.", "[Write|Mail] to help@{shop}.example [at any time|if anything is unclear].", "Our [chat|hotline] is open from {n} to 18 o'clock."]),
    "refusal": ("a refusal of the request", ["[Unfortunately|I am afraid] we cannot {ask}.", "It is not possible to {ask}.", "We are unable to {ask}[.|, as the terms say.]", "[No|Our answer is no]: we do not {ask} in such cases."]),
}
CAUSES = ["a lorry broke down", "the warehouse was [closed|flooded]", "two orders were swapped", "a supplier delivered late", "our payment provider had an outage", "the address was incomplete", "an update contained a bug", "half of the team was ill",
          "the label came off", "the customs office kept the parcel", "the database was moved", "demand was far higher than planned", "a technician entered the wrong date", "the stock count was wrong"]
PROMISES = ["send a replacement", "check the meter again", "call the courier", "correct the invoice", "restore the account", "book another appointment", "talk to the warehouse", "renew the licence", "test the device ourselves", "escalate the case", "move the booking", "repair the {thing}"]
ASKS = ["extend the deadline", "waive the fee", "change the name on the ticket", "take back opened goods", "refund the deposit", "lower the price", "reopen the course", "deliver to that island", "share this file", "move the seat"]
DETAILS = ["the order number", "the name on the contract", "your postcode", "the serial number", "a photo of the damage", "the date of purchase", "which browser you use", "your new address", "the colour you prefer", "the last four digits of the card"]
THINGS = ["order", "parcel", "booking", "refund", "invoice", "repair", "delivery", "licence", "ticket", "account", "application", "subscription", "shipment", "payment", "report", "membership"]
COMPLAINTS = ["Where is my {thing}?", "My {thing} is [late|wrong|missing|gone|not there] [again|since {day}|for {n} days now].", "Why has the {thing} [not arrived|been changed|been cancelled]?", "Can you {ask}?", "Please {ask}.", "I want to know what happened to my {thing}.",
              "The {thing} [you sent|from last week] [is a mess|does not fit|is incomplete]."]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
REPLY_FRAMES = ["Customer: {q}\n\n[Reply|Agent|Support]: {a}", "> {q}\n\n{a}", "User: {q}\nAssistant: {a}", "{a}", "[Request|Ticket] {n}{n}7\n{q}\n---\n{a}", "Question: {q}\nAnswer: {a}", "From the customer: {q}\nOur draft: {a}"]
ACT_CLAIMS = {
    "greeting": ["The [reply|answer] [starts with a greeting|greets the reader]."], "apology": ["The [reply|answer|agent] apologises.", "The [reply|text] says sorry.", "There is an apology in the [reply|answer]."],
    "reason": ["The [answer|reply] gives a reason.", "The [reply|text] explains why it happened.", "The cause of the problem is named."], "next step": ["The [reply|agent] says what [will be done|happens next].", "The answer promises an action."],
    "time": ["The [reply|answer] [names|gives] a time or date.", "The reader learns when or how long."], "question": ["The [reply|agent] asks [the customer |]for [information|a detail].", "The answer contains a question to the customer."],
    "compensation": ["The [reply|company] offers [money back or a gift|compensation].", "The customer gets something for the trouble."], "thanks": ["The [reply|agent] thanks the customer.", "The answer contains thanks."],
    "contact": ["The [reply|answer] says how to get in touch.", "The [reply|text] gives [contact details|a way to contact the company]."], "refusal": ["The [reply|company] [refuses|turns down] the request.", "The answer says no to what was asked."],
}


def reply_slots(rng: random.Random) -> dict:
    cause = expand(rng.choice(CAUSES), rng)
    return {"name": rng.choice(FIRST), "cause": cause, "Cause": cause[0].upper() + cause[1:], "promise": PROMISES, "ask": ASKS, "detail": DETAILS, "thing": rng.choice(THINGS), "month": MONTHS,
            "day": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"], "n": [str(i) for i in range(4, 10)], "amount": f"{rng.choice('€$£')}{rng.randint(3, 90)}", "code": f"X{rng.randint(10, 99)}K{rng.randint(100, 999)}",
            "shop": ["nordhaus", "bluepine", "orbit", "lumen", "fernway", "kite"]}


def reply(rng: random.Random) -> Example:
    slots = reply_slots(rng)
    keys = [key for key in ACTS if rng.random() < 0.5]
    if "refusal" in keys and rng.random() < 0.5:  # rarer together with offers
        keys = [key for key in keys if key not in ("compensation", "next step")]
    keys = keys or [rng.choice(list(ACTS))]
    first = [key for key in ("greeting", "thanks") if key in keys]
    middle = [key for key in keys if key not in (*first, "contact")]
    rng.shuffle(middle)
    ordered = first + middle + [key for key in keys if key == "contact"]
    text = " ".join(expand(rng.choice(ACTS[key][1]), rng, slots) for key in ordered)
    question = expand(rng.choice(COMPLAINTS), rng, slots)
    state = expand(rng.choice(REPLY_FRAMES), rng, {"q": question, "a": text, "n": slots["n"]})
    found = []
    # Some acts carry a little of another one (a refusal may cite the terms): then the other one is not asked about.
    unsure = {"compensation": {"next step"}, "next step": {"compensation", "time"}, "time": {"contact", "next step", "compensation"}, "reason": {"refusal"}, "thanks": {"compensation"}}
    askable = [key for key in ACTS if key in keys or not unsure.get(key, set()) & set(keys)]
    for key in rng.sample(askable, min(4, len(askable))):
        found.append(claim(expand(rng.choice(ACT_CLAIMS[key]), rng), key in keys, rng))
    absent = [key for key in askable if key not in keys]
    if absent and len(keys) >= 2:
        gold, shown = rng.choice(absent), rng.sample(keys, min(len(keys), rng.randint(2, 4)))
        found.append(choice(rng.choice(["What is missing in the reply?", "Which of these does the reply not contain?", "Which element is absent?", "missing part"]), [(k, ACTS[k][0]) for k in [gold, *shown]], 0, rng))
    if absent and rng.random() < 0.7:
        gold, shown = rng.choice(keys), rng.sample(absent, min(len(absent), rng.randint(1, 4)))
        found.append(choice(rng.choice(["What does the reply contain?", "Which of these is in the reply?", "Which element is present?"]), [(k, ACTS[k][0]) for k in [gold, *shown]], 0, rng))
    wanted = rng.sample(askable, min(3, len(askable)))
    met = sum(key in keys for key in wanted)
    levels = [["none of them", "one of them", "two of them", "all of them"], ["0 of 3", "1 of 3", "2 of 3", "3 of 3"]][rng.random() < 0.5]
    if len(wanted) == 3:
        found.append(score(f"A good reply contains {ACTS[wanted[0]][0]}, {ACTS[wanted[1]][0]} and {ACTS[wanted[2]][0]}. How much of this is there?", levels, [float(i == met) for i in range(4)]))
    return Example(state, rng.sample(found, rng.randint(2, min(5, len(found)))))


def generate(rng: random.Random) -> Example:
    return exam(rng) if rng.random() < 0.45 else reply(rng)
