"""Customer messages: which team, how urgent, what mood, what is asked for."""

from __future__ import annotations

import random

from ..tasks import Example
from .common import choice, fill, peaked, pick, score, yes_no

# team -> (names, descriptions, things that customers write, does it ask for money back)
TEAMS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "billing": (
        ["billing", "payments", "invoices", "finance", "billing_team", "accounts receivable", "billing and refunds"],
        ["payments, invoices, refunds", "questions about charges, refunds and invoices", "money: charges, cards, refunds, receipts",
         "anything to do with what the customer pays", "wrong or duplicate charges, payment methods, invoices"],
        ["I was charged twice for order {order}", "there is a charge of {amount} on my card that I do not recognise",
         "the invoice from {day} shows {amount} but we agreed on less", "my card was declined although there is money on it",
         "you took {amount} after I had cancelled", "I need the receipt for order {order}", "please send me the invoice with our VAT number",
         "the discount code was not applied and I paid the full {amount}", "I still have not got my {amount} back",
         "I want to change the card that you charge", "why did my bill go up to {amount} this month",
         "the payment page took my money but the order says unpaid", "I was billed for {n} seats and we only have one",
         "my refund for order {order} has not arrived", "I paid by bank transfer {day} and it is still shown as due"]),
    "technical": (
        ["technical", "technical_support", "tech support", "engineering", "it_support", "troubleshooting", "bugs"],
        ["bugs, errors, things that do not work", "crashes, error messages, connection problems", "the product does not work as it should",
         "help with faults and error codes", "problems with software or devices"],
        ["{product} crashes every time I open it", "I get error code {order} when I try to save", "{product} does not connect any more since {day}",
         "the page stays white after the last update", "nothing happens when I press the button", "sync has been stuck since {day}",
         "the export file is empty", "the screen flickers and then goes dark", "it says server not reachable", "our integration returns status 50{n}",
         "{product} is extremely slow since the update", "the upload stops at {n}0 percent", "notifications no longer arrive on my phone",
         "{product} freezes after {n} minutes", "the search finds nothing at all although the files are there"]),
    "sales": (
        ["sales", "sales_team", "new business", "pre-sales", "commercial", "quotes and plans"],
        ["prices, plans, offers for new customers", "questions before buying, upgrades, quotes", "wants to buy or upgrade",
         "product advice, demos and price offers", "new orders and larger plans"],
        ["how much would a plan for {n}0 people cost", "could you give us a demo of {product}", "we would like to upgrade to the larger plan",
         "do you offer a discount for schools", "I am comparing your offer with another vendor and need a quote",
         "which plan includes single sign-on", "is there a trial before we buy", "we want to order {n}0 more licences",
         "does {product} come with a warranty if I buy it now", "please have someone call me about an annual contract",
         "what is the difference between the basic and the professional plan", "do you have a reseller programme"]),
    "shipping": (
        ["shipping", "delivery", "logistics", "shipping_and_delivery", "fulfilment", "parcel desk"],
        ["parcels, delivery times, tracking", "where an order is, late or lost parcels", "delivery address, couriers and tracking",
         "anything about getting the goods to the customer"],
        ["my parcel {order} has not arrived", "tracking has not moved since {day}", "the courier left the box in the rain",
         "order {order} was delivered to the wrong house", "can you change the delivery address of order {order}",
         "when will order {order} be delivered", "only {n} of the {n}0 boxes came", "the package says delivered but nothing is here",
         "I will be away, please deliver after {day}", "how long does shipping to Norway take"]),
    "account": (
        ["account", "account_access", "login help", "account management", "identity", "user accounts"],
        ["login, password, profile", "cannot sign in, wants details changed or the account closed", "passwords, two-factor codes, profile data",
         "access to the account and personal data"],
        ["I cannot log in, the password reset mail never comes", "my account is locked after {n} attempts", "please change my e-mail address",
         "I lost my phone and cannot get the two-factor code", "delete my account and all my data", "I need to add {person} as a second user",
         "someone signed in to my account from another country", "how do I change my user name", "my profile shows the wrong name",
         "I want to close my account"]),
    "returns": (
        ["returns", "returns_and_exchanges", "exchanges", "warranty", "returns desk"],
        ["sending goods back, exchanges, damaged goods", "broken, wrong or unwanted items", "returns, replacements and warranty claims"],
        ["{product} arrived broken", "I got the wrong size and want to exchange it", "how do I send order {order} back",
         "the box had a different item in it", "{product} stopped working after {n} weeks and is under warranty",
         "the lid was cracked when I opened the box", "I would like a replacement for {product}", "where do I get a return label"]),
    "feedback": (
        ["feedback", "product feedback", "suggestions", "praise_and_ideas", "customer voice"],
        ["praise, ideas and wishes", "suggestions and opinions without a request", "comments about the product or the service"],
        ["just wanted to say that {person} was very helpful", "it would be great if {product} had a dark mode", "I love the new design",
         "an idea: let us sort the list by date", "keep up the good work", "the new menu is confusing, the old one was better",
         "I have used {product} for {n} years and recommend it to everyone"]),
}

REFUND = ["I want my money back", "please refund me", "I expect a full refund", "refund the {amount}", "can I get a refund", "return my money"]
MOODS = {
    "angry": (0.95, ["This is unacceptable!", "I am furious.", "What kind of company are you?", "I have had enough of this.", "This is ridiculous!!",
                     "You people are useless.", "Worst service I have ever had.", "I am sick of waiting!", "How hard can it be?!", "Absolutely terrible."]),
    "upset": (0.7, ["I am quite disappointed.", "This is frustrating.", "I expected better.", "I am not happy about this.", "It is the {n}th time now.",
                    "Nobody answers me.", "I have written {n} times already."]),
    "neutral": (0.3, ["", "", "Please let me know.", "Looking forward to your answer.", "I use the web version.", "My number is {order}."]),
    "friendly": (0.05, ["Thanks a lot for your help!", "You have been great so far.", "No worries if it takes a while.", "Have a lovely day!",
                        "Thank you so much, much appreciated.", "I am happy with everything else."]),
}
URGENT = {
    1.0: ["This is an emergency.", "Our whole production is down.", "We lose money every minute.", "I need this fixed right now!", "It has to work within the hour.",
          "Please act immediately.", "All {n}00 of our users are locked out.", "ASAP!!!", "Our launch is today and we are stuck."],
    0.65: ["I need this by tomorrow.", "Please look at it today.", "We have a deadline on {day}.", "It blocks part of my work.", "This is fairly urgent."],
    0.3: ["", "Please let me know soon.", "It would help to have this by the end of the week.", ""],
    0.0: ["No rush.", "Whenever you have time.", "It is not urgent at all.", "Just curious.", "There is no hurry.", "Take your time."],
}
TEAM_ASKS = ["Which department should handle this?", "Route this message to the right team.", "Which team should answer?", "department", "team",
             "Who is responsible for this request?", "Send to", "Pick the queue for this ticket.", "Where does this ticket belong?",
             "What is this message about?", "Classify the support request.", "Choose the team that can help.", "category"]
URGENCY_ASKS = ["How urgent is this?", "Rate the urgency.", "urgency", "priority", "How quickly must somebody react?", "Set the priority of this ticket.",
                "The message can wait", "How pressing is the request?"]
URGENCY_LEVELS = [["low", "medium", "high"], ["can wait", "soon", "now"], ["not urgent", "somewhat urgent", "very urgent"],
                  ["low", "normal", "high", "critical"], ["no hurry at all", "within a few days", "today", "immediately, damage is growing"],
                  ["P4", "P3", "P2", "P1"], ["can wait", "urgent"], ["1", "2", "3", "4", "5"], ["not urgent at all", "slightly urgent", "moderately urgent", "urgent", "emergency"],
                  ["routine: answer in turn", "elevated: answer today", "critical: drop everything"]]
ANGER_LEVELS = [["calm", "annoyed", "angry"], ["friendly", "neutral", "upset", "furious"], ["not angry", "a little angry", "very angry"],
                ["satisfied", "neutral", "unhappy", "angry"]]
ANGRY_ASKS = ["Is the customer angry?", "The customer is angry.", "angry", "Does the writer sound upset?", "Check whether the customer is annoyed.",
              "Is this an angry message?", "The tone is hostile.", "Is the customer frustrated?"]
REFUND_ASKS = ["Does the customer want a refund?", "The customer asks for money back.", "refund requested", "Is a refund being asked for?",
               "Does the writer want their money returned?", "The message demands a refund."]
URGENT_ASKS = ["Is this urgent?", "This needs an answer at once.", "urgent", "Does somebody have to react today?", "The request is time-critical."]
MOOD_NAMES = [("angry", "shouts, insults or threatens"), ("upset", "unhappy but polite"), ("neutral", "no feeling shown"), ("friendly", "kind or thankful")]


def compose(rng: random.Random, team: str, mood: str, urgency: float, refund: bool) -> str:
    parts = [fill(pick(rng, TEAMS[team][2]), rng), fill(pick(rng, MOODS[mood][1]), rng), fill(pick(rng, URGENT[urgency]), rng)]
    if rng.random() < 0.25:
        parts.insert(1, fill(pick(rng, TEAMS[team][2]), rng))
    if refund:
        parts.insert(rng.randint(1, len(parts)), fill(pick(rng, REFUND), rng))
    parts = [part[0].upper() + part[1:] for part in parts if part]
    parts = [part if part[-1] in ".!?" else part + pick(rng, [".", ".", "!", ""]) for part in parts]
    if rng.random() < 0.3:
        parts.insert(0, pick(rng, ["Hi,", "Hello,", "Hello, I am {person}.".format(person="Anna"), "Dear team,", "Good day,", "Hey"]))
    return pick(rng, [" ", " ", "\n"]).join(parts)


def team_question(rng: random.Random, team: str) -> object:
    others = rng.sample([name for name in TEAMS if name != team], rng.randint(1, len(TEAMS) - 1))
    listed = [team, *others]
    options = [(pick(rng, TEAMS[name][0]), pick(rng, TEAMS[name][1])) for name in listed]
    gold = 0
    if rng.random() < 0.15:
        options.append(pick(rng, [("other", "anything else"), ("general", "none of the other teams"), ("other", None), ("none", "nothing fits")]))
        if rng.random() < 0.4 and len(options) > 2:
            options, gold = options[1:], len(options) - 2
    return choice(pick(rng, TEAM_ASKS), options, gold, rng)


def urgency_question(rng: random.Random, urgency: float) -> object:
    levels = pick(rng, URGENCY_LEVELS)
    return score(pick(rng, URGENCY_ASKS), levels, peaked(len(levels), urgency))


def mood_question(rng: random.Random, mood: str) -> object:
    names = [name for name, _ in MOOD_NAMES]
    if rng.random() < 0.5:
        return choice(pick(rng, ["What is the mood of the customer?", "tone", "How does the customer feel?", "Pick the tone of the message."]),
                      MOOD_NAMES, names.index(mood), rng)
    levels = pick(rng, ANGER_LEVELS)
    return score(pick(rng, ["How angry is the customer?", "anger", "Rate how upset the writer is.", "mood of the customer"]), levels,
                 peaked(len(levels), MOODS[mood][0]))


def generate(rng: random.Random) -> Example:
    team, mood = pick(rng, list(TEAMS)), pick(rng, list(MOODS))
    if team == "feedback" and mood == "angry":
        mood = "friendly"
    urgency = 1.0 if rng.random() < 0.2 else pick(rng, list(URGENT))
    if mood == "friendly" and urgency == 1.0:
        urgency = 0.3
    refund = team in ("billing", "returns", "shipping") and rng.random() < 0.5
    state = compose(rng, team, mood, urgency, refund)
    pool = [team_question(rng, team), urgency_question(rng, urgency), mood_question(rng, mood),
            yes_no(pick(rng, ANGRY_ASKS), mood in ("angry", "upset"))]
    if refund or ("back" not in state and "refund" not in state):
        pool.append(yes_no(pick(rng, REFUND_ASKS), refund))
    if urgency in (1.0, 0.0):
        pool.append(yes_no(pick(rng, URGENT_ASKS), urgency == 1.0))
    return Example(state, rng.sample(pool, rng.randint(3, len(pool))))
