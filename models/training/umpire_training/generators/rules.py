"""Chains of two to four rules with priorities, exceptions and "unless", applied to a case told in words."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ..tasks import Example, Labelled
from .common import choice
from .phrases import claim, expand, person, sentence

# domain -> subject, facts (condition as in a rule, sentence that says it, sentence that says the opposite), outcomes (name, as in a rule)
DOMAINS = {
    "returns desk": ("the item", [("it is damaged", "The item [is damaged|arrived in pieces|has a crack]", "The item is [in perfect condition|undamaged]"), ("the receipt is missing", "{w} has [lost the receipt|no receipt]", "{w} [shows|brings] the receipt"), ("it was bought on sale", "It was [bought on sale|reduced]", "It was bought at the [full|regular] price"), ("the seal is broken", "The seal is [broken|torn]", "The seal is [intact|unbroken]"), ("the customer is a club member", "{w} is a club member", "{w} is not [a club member|in the club]")],
                     [("refund", "the money is paid back"), ("exchange", "it is exchanged"), ("reject", "the return is turned down"), ("store_credit", "a credit note is given"), ("ask_manager", "the manager decides")]),
    "hospital front desk": ("the patient", [("the patient has chest pain", "{w} [complains of|has] chest pain", "{w} has no [pain in the chest|chest pain]"), ("the patient is a child", "{w} is [a child|six years old|a toddler]", "{w} is [an adult|a grown-up|a pensioner]"), ("there is a referral", "{w} has a referral", "There is no referral"), ("the patient is bleeding", "{w} is bleeding", "{w} is not bleeding"), ("the patient has no insurance", "{w} has no insurance", "{w} is insured")],
                            [("emergency", "the patient goes to the emergency room"), ("pediatrics", "the patient goes to the children's ward"), ("waiting_room", "the patient waits in the hall"), ("specialist", "the patient sees a specialist"), ("billing_office", "the patient goes to the billing office first")]),
    "mail room": ("the letter", [("it is marked confidential", "The letter is marked confidential", "The letter bears no [mark|confidential stamp]"), ("it comes from a court", "It [was sent by|comes from] a court", "It comes from a [private person|shop]"), ("the addressee has left the firm", "The addressee [left|quit] [last year|in May]", "The addressee still works here"), ("it contains an invoice", "There is an invoice in it", "There is no invoice in it"), ("it is registered mail", "It is registered mail", "It is ordinary mail")],
                  [("legal_team", "it goes to the legal team"), ("return_to_sender", "it goes back to the sender"), ("accounting", "it goes to accounting"), ("pigeonhole", "it is put in the pigeonhole"), ("director", "it goes to the director")]),
    "comment moderation": ("the comment", [("it contains an insult", "The comment calls [somebody|{w}] an [idiot|imbecile|oaf]", "The comment is polite"), ("it contains a link", "There is a link in it", "There is no link in it"), ("the author is new", "The author [joined today|is new here]", "The author has been here for years"), ("it is off topic", "It has nothing to do with the article", "It is about the article"), ("two readers have flagged it", "Two readers have flagged it", "Nobody has flagged it")],
                           [("delete", "it is deleted"), ("hide", "it is hidden"), ("publish", "it is published"), ("review", "a moderator looks at it"), ("warn", "the author gets a warning")]),
    "library": ("the loan", [("the book is reserved by somebody else", "Somebody else has reserved the book", "Nobody else wants the book"), ("the reader has unpaid fines", "{w} has unpaid fines", "{w} owes nothing"), ("the reader is a student", "{w} is a student", "{w} [is not a student|left university years ago]"), ("the book is rare", "The book is a rare [print|edition]", "It is a common paperback"), ("the reader has an expired card", "The card of {w} has expired", "The card of {w} is valid")],
                [("extend", "the loan is extended"), ("refuse", "the loan is refused"), ("reading_room", "the book may only be read in the reading room"), ("short_loan", "a short loan is given"), ("counter", "the reader must come to the counter")]),
    "server alarms": ("the alarm", [("the database is affected", "The [database|main database] is affected", "The database is [fine|not affected]"), ("it happens at night", "It is [three in the morning|the middle of the night]", "It is [noon|early afternoon]"), ("a deployment is running", "A deployment is [running|under way]", "No deployment is running"), ("the host is a test machine", "The host is a test machine", "The host [serves customers|is in production]"), ("the alarm has come twice", "The alarm has come twice", "The alarm came only once")],
                      [("page_engineer", "the engineer on call is woken"), ("ignore", "nothing is done"), ("open_ticket", "a ticket is opened"), ("roll_back", "the release is rolled back"), ("restart", "the service is restarted")]),
    "school trip": ("the pupil", [("the form is unsigned", "The form of {w} is unsigned", "The parents of {w} signed the form"), ("the pupil is ill", "{w} [is ill|has a fever]", "{w} is [healthy|well]"), ("the pupil cannot swim", "{w} cannot swim", "{w} swims well"), ("the pupil is in the top class", "{w} is in the top class", "{w} is in a lower class"), ("a parent comes along", "[A parent|The mother of {w}] comes along", "No parent comes along")],
                    [("stays_home", "the pupil stays at home"), ("comes_along", "the pupil comes along"), ("land_group", "the pupil joins the group on land"), ("call_parents", "the teacher calls the parents"), ("helper", "the pupil helps the teacher")]),
    "airport check-in": ("the bag", [("the bag contains batteries", "There are batteries in the bag", "There are no batteries in the bag"), ("the passenger flies business class", "{w} flies business class", "{w} flies economy"), ("the bag is too heavy", "The bag is [too heavy|over the limit]", "The bag is [light|within the limit]"), ("the flight is full", "The flight is full", "There are many empty seats"), ("the bag is fragile", "The bag is marked fragile", "Nothing in the bag can break")],
                         [("cabin", "the bag goes into the cabin"), ("hold", "the bag goes into the hold"), ("fee", "a fee is due"), ("special_counter", "the bag goes to the special counter"), ("repack", "the passenger has to repack")]),
    "kitchen orders": ("the order", [("the guest has a nut allergy", "{w} [is allergic to nuts|has a nut allergy]", "{w} has no allergies"), ("the order came late", "The order came [late|after ten]", "The order came early"), ("the guest is a regular", "{w} is a regular", "{w} is here for the first time"), ("the oven is full", "The oven is full", "The oven is empty"), ("the guest is vegan", "{w} is vegan", "{w} eats meat")],
                       [("separate_pan", "a separate pan is used"), ("cold_plate", "a cold plate is served"), ("free_dessert", "a dessert is added for free"), ("ask_chef", "the chef is asked"), ("normal", "it is cooked as usual")]),
    "leave requests": ("the request", [("the employee is on probation", "{w} is [still |]on probation", "{w} passed probation long ago"), ("a colleague is already away", "A colleague is already away", "Everybody else is [in|there]"), ("it falls into the holidays", "It falls into the holidays", "It lies outside the holidays"), ("the employee has school children", "{w} has school children", "{w} has no children"), ("the request came late", "The request came [late|yesterday for tomorrow]", "The request came months ahead")],
                       [("approve", "it is approved"), ("decline", "it is declined"), ("talk", "the boss talks to the employee"), ("waiting_list", "it goes on a waiting list"), ("hr", "the personnel office decides")]),
    "lost property": ("the find", [("it contains an identity card", "There is an identity card in it", "There are no papers in it"), ("it is perishable", "It [is food|would rot within days]", "It keeps for years"), ("it is a key", "It is a [key|bunch of keys]", "It is not a key"), ("nobody asked for it", "Nobody asked for it", "Somebody asked for it [yesterday|by phone]"), ("it was found on a train", "It was found on a train", "It was found in the hall")],
                      [("call_owner", "the owner is called"), ("throw_away", "it is thrown away"), ("police", "it goes to the police"), ("shelf", "it is put on the shelf"), ("auction", "it is auctioned")]),
    "greenhouse control": ("the greenhouse", [("the soil is dry", "The soil is dry", "The soil is [wet|damp]"), ("the sun is strong", "The sun is [strong|burning]", "The sky is [grey|overcast]"), ("the door is open", "The door is open", "The door is shut"), ("frost is expected", "Frost is expected", "The night will be mild"), ("the pump is broken", "The pump is broken", "The pump works")],
                           [("water", "the plants are watered"), ("shade", "the blinds are lowered"), ("heat", "the heating is switched on"), ("alarm", "the gardener is called"), ("nothing", "nothing is done")]),
    "loan office": ("the application", [("the applicant has steady work", "{w} has steady work", "{w} has no steady work"), ("the applicant has old debts", "{w} has old debts", "{w} has no debts"), ("somebody vouches for the applicant", "[A cousin|The employer] vouches for {w}", "Nobody vouches for {w}"), ("papers are missing", "[Some|Two] papers are missing", "All papers are there"), ("the applicant is a customer already", "{w} has been a customer for years", "{w} is new to the bank")],
                    [("grant", "the loan is granted"), ("deny", "the loan is denied"), ("ask_for_papers", "the papers are asked for"), ("smaller_sum", "a smaller sum is offered"), ("committee", "the committee decides")]),
    "code changes": ("the change", [("the tests fail", "The tests [fail|are red]", "[All|The] tests pass"), ("it touches the payment code", "It touches the payment code", "It leaves the payment code alone"), ("only documentation changes", "Only documentation changes", "It changes [code|the program]"), ("the author is an apprentice", "The author, {w}, is an apprentice", "The author, {w}, is a senior"), ("two people have approved it", "Two people have approved it", "Nobody has approved it")],
                     [("merge", "it is merged"), ("block", "it is blocked"), ("second_review", "a second review is needed"), ("security_review", "the security team looks at it"), ("postpone", "it waits until Monday")]),
    "door control": ("the visitor", [("the visitor has a badge", "{w} [wears|shows] a badge", "{w} has no badge"), ("the visitor is expected", "{w} is on the list", "Nobody expects {w}"), ("the building is closed", "The building is closed", "The building is open"), ("the visitor carries a parcel", "{w} carries a parcel", "{w} comes with empty hands"), ("the visitor is a fire fighter", "{w} is a fire fighter", "{w} is a salesman")],
                     [("open", "the door is opened"), ("keep_shut", "the door stays shut"), ("call_host", "the host is called"), ("guard", "a guard comes along"), ("front_desk", "the visitor goes to the front desk")]),
    "wildlife rescue": ("the animal", [("the animal is injured", "It [is injured|has a broken wing|limps]", "It is unhurt"), ("the animal is young", "It is [a chick|very young|a pup]", "It is fully grown"), ("the animal is protected", "It belongs to a protected species", "The species is not protected"), ("the parents are near", "The parents are near", "No parents are in sight"), ("the animal may have rabies", "It [may have|shows signs of] rabies", "There is no sign of rabies")],
                        [("vet", "it is brought to the vet"), ("leave", "it is left where it is"), ("shelter", "it is taken to the shelter"), ("ranger", "the ranger is called"), ("isolate", "it is kept apart")]),
}
ORDERS = ["The first rule that applies decides.", "Go through the rules from top to bottom; the first match counts.", "If several rules apply, the one [higher up|that stands first] wins.", "Rules are checked in order and the first hit is final."]
LAST = ["[The last rule that applies decides.|If several rules apply, the later one wins.|A later rule overrides an earlier one.]"]
RULE = ["If {c}, {o}.", "When {c}, {o}.", "Where {c}, {o}.", "{O} if {c}.", "In case {c}, {o}.", "{O} whenever {c}."]
RULE_AND = ["If {c} and {d}, {o}.", "{O} if {c} and {d}.", "When both {c} and {d}, {o}."]
RULE_UNLESS = ["If {c}, {o}, unless {d}.", "{O} if {c}, except when {d}.", "When {c}, {o}; this does not hold where {d}.", "Unless {d}, {o} if {c}."]
ELSE = ["Otherwise {o}.", "In all other cases {o}.", "If no rule applies, {o}.", "{O} by default."]


class Rule:
    """A condition over facts and its outcome."""

    def __init__(self, kind: str, places: list[int], outcome: int):
        self.kind, self.places, self.outcome = kind, places, outcome

    def holds(self, facts: list[bool]) -> bool:
        first = facts[self.places[0]]
        if self.kind == "and":
            return first and facts[self.places[1]]
        if self.kind == "unless":
            return first and not facts[self.places[1]]
        return first

    def text(self, conditions: list[str], outcome: str, rng: random.Random) -> str:
        form = rng.choice({"plain": RULE, "and": RULE_AND, "unless": RULE_UNLESS}[self.kind])
        second = conditions[self.places[1]] if len(self.places) > 1 else ""
        return expand(form, rng, {"c": conditions[self.places[0]], "d": second, "o": outcome, "O": outcome[0].upper() + outcome[1:]})


def make_rules(rng: random.Random, count: int, facts: int, outcomes: int) -> list[Rule]:
    rules = []
    results = rng.sample(range(outcomes - 1), min(count, outcomes - 1))
    heads = rng.sample(range(facts), min(count, facts))
    for head, result in zip(heads, results):
        kind = rng.choice(["plain", "plain", "and", "unless"])
        other = rng.choice([place for place in range(facts) if place != head])
        rules.append(Rule(kind, [head] if kind == "plain" else [head, other], result))
    return rules


def decide(rules: list[Rule], facts: list[bool], last_wins: bool) -> int | None:
    matching = [i for i, rule in enumerate(rules) if rule.holds(facts)]
    return None if not matching else matching[-1] if last_wins else matching[0]


def generate(rng: random.Random) -> Example:
    name = rng.choice(list(DOMAINS))
    subject, facts, outcomes = DOMAINS[name]
    facts, outcomes = rng.sample(facts, len(facts)), rng.sample(outcomes, len(outcomes))
    rules = make_rules(rng, rng.choice([2, 2, 3, 3, 4]), len(facts), len(outcomes))
    last_wins = rng.random() < 0.2
    wanted = rng.choice([None, *range(len(rules))])
    for _ in range(12):  # every rule, and none, decides about equally often
        truths = [rng.random() < 0.45 for _ in facts]
        decided = decide(rules, truths, last_wins)
        if decided == wanted:
            break
    default = len(outcomes) - 1
    result = default if decided is None else rules[decided].outcome
    conditions = [fact[0] for fact in facts]
    who = person(rng)
    texts = [rule.text(conditions, outcomes[rule.outcome][1], rng) for rule in rules]
    numbered = rng.random() < 0.7
    mark = rng.choice(["Rule {}: ", "{}. ", "({}) ", "R{}: "]) if numbered else rng.choice(["", "- "])
    body = [mark.format(i) + sentence(text) for i, text in enumerate(texts, 1)]
    order = expand(rng.choice(LAST if last_wins else ORDERS), rng)
    otherwise = outcomes[default][1]
    body.append(expand(rng.choice(ELSE), rng, {"o": otherwise, "O": otherwise[0].upper() + otherwise[1:]}))
    ruling = rng.choice(["\n", "\n", " "]).join([order, *body] if rng.random() < 0.6 else [*body, order])
    used = {place for rule in rules for place in rule.places}
    told = [place for place in range(len(facts)) if place in used or rng.random() < 0.5]
    rng.shuffle(told)
    case = " ".join(sentence(expand(facts[place][1 if truths[place] else 2], rng, {"w": who})) for place in told)
    title = rng.choice([f"Rules of the {name}", f"{name.capitalize()} policy", f"How we handle {subject.removeprefix('the ')} cases", "House rules", f"Guideline: {name}"])
    ruling = f"{title}\n{ruling}" if rng.random() < 0.5 else ruling
    in_state = rng.random() < 0.65
    state = rng.choice(["{r}\n\nCase: {c}", "{r}\n\n{c}", "{c}\n\n{r}", "Case\n{c}\n\nRules\n{r}"]).replace("{r}", ruling).replace("{c}", case) if in_state else case
    lead = "" if in_state else ruling + "\n"
    found = questions(Case(lead, rules, texts, outcomes, result, decided, truths, conditions, told, numbered), rng)
    return Example(state, rng.sample(found, rng.randint(2, min(4, len(found)))))


@dataclass
class Case:
    """The rules, what is true, and what follows."""

    lead: str  # the rules, where they stand in the instructions
    rules: list[Rule]
    texts: list[str]
    outcomes: list[tuple[str, str]]
    result: int
    decided: int | None
    truths: list[bool]
    conditions: list[str]
    told: list[int]
    numbered: bool


def questions(case: Case, rng: random.Random) -> list[Labelled]:
    lead, rules, outcomes, truths = case.lead, case.rules, case.outcomes, case.truths
    shown = [case.result, *rng.sample([i for i in range(len(outcomes)) if i != case.result], rng.randint(1, len(outcomes) - 1))]
    found = [choice(lead + rng.choice(["What happens by the rules?", "Which outcome follows?", "Apply the rules to the case.", "decision", "What is to be done?", "Decide the case."]), [outcomes[i] for i in shown], 0, rng)]
    # Wrong outcomes are preferably those of other rules that could have decided.
    truth = rng.random() < 0.5
    named = [rule.outcome for rule in rules if rule.outcome != case.result] or [i for i in range(len(outcomes)) if i != case.result]
    asked = case.result if truth else rng.choice(named)
    verdict = claim(rng.choice(["By the rules, {}.", "The outcome is this: {}.", "It follows that {}.", "In this case, {}."]).format(outcomes[asked][1]), truth, rng)
    verdict.question.instructions = lead + verdict.question.instructions
    found.append(verdict)
    if case.numbered:
        options = [(f"rule {i + 1}", text if rng.random() < 0.5 else None) for i, text in enumerate(case.texts)] + [("no rule", "no rule applies")]
        found.append(choice(lead + rng.choice(["Which rule decides?", "Which rule settles the case?", "deciding rule", "By which rule is the case decided?"]), options, len(rules) if case.decided is None else case.decided, rng, vary=False))
        place = rng.randrange(len(rules))
        wordings = ["Rule {} applies to the case, leaving the order aside.", "Rule {} fits the case, whatever the other rules say."]
        if rules[place].kind != "unless":  # there a condition may be met and the exception too
            wordings.append("The condition of rule {} is met.")
        met = claim(rng.choice(wordings).format(place + 1), rules[place].holds(truths), rng)
        met.question.instructions = lead + met.question.instructions
        if rules[place].holds(truths) or rng.random() < 0.6:
            found.append(met)
    wanted = rng.random() < 0.5
    place = rng.choice([p for p in case.told if truths[p] == wanted] or case.told)
    found.append(claim(rng.choice(["{}.", "In the case, {}.", "It is a fact here that {}."]).format(case.conditions[place]), truths[place], rng))
    return found
