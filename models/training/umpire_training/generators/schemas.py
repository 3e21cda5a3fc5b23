"""Tools with JSON schemas: is a call valid, which field is wrong and how, does a request bring every required argument."""

from __future__ import annotations

import json
import random

from ..tasks import Example
from .common import choice
from .phrases import CITIES, claim, expand, person

ENUMS = {"unit": ["celsius", "fahrenheit"], "size": ["small", "medium", "large"], "priority": ["low", "normal", "high"], "currency": ["EUR", "USD", "GBP", "CHF"], "colour": ["red", "blue", "green", "black"], "language": ["en", "de", "fr", "es"],
         "seat_class": ["economy", "business", "first"], "format": ["pdf", "csv", "xlsx"], "repeat": ["never", "daily", "weekly"], "vehicle": ["car", "bike", "van"], "sort_by": ["date", "price", "rating"], "environment": ["staging", "production"],
         "gift_wrap": ["none", "paper", "box"], "role": ["viewer", "editor", "admin"], "meal": ["vegan", "vegetarian", "standard"]}
OUTSIDE = {"unit": "kelvin", "size": "gigantic", "priority": "whenever", "currency": "gold", "colour": "plaid", "language": "klingon", "seat_class": "cargo", "format": "docx", "repeat": "hourly", "vehicle": "tank", "sort_by": "mood",
           "environment": "laptop", "gift_wrap": "foil", "role": "king", "meal": "carnivore"}
# name -> (type, what it is, values, how a request says it)
FIELDS = {
    "city": ("string", "name of the city", CITIES, ["in {v}", "for {v}"]),
    "date": ("string", "day of the event", ["2025-03-04", "2025-07-19", "2026-01-30", "2025-11-11", "2026-05-02"], ["on {v}", "for {v}"]),
    "email": ("string", "mail address", ["kim@example.com", "j.ortiz@example.org", "sales@example.net", "dana@example.com"], ["to {v}", "using {v} as the address"]),
    "title": ("string", "short title", ["Budget review", "Summer party", "Dentist", "Team lunch", "Sprint planning", "Yoga class"], ["called \"{v}\"", "with the title \"{v}\""]),
    "quantity": ("integer", "number of pieces", [1, 2, 3, 5, 8, 12, 40], ["{v} pieces", "{v} of them"]),
    "guests": ("integer", "number of people", [1, 2, 4, 6, 10], ["for {v} people", "with {v} guests"]),
    "max_price": ("number", "most it may cost", [20, 49.5, 99.9, 150, 300], ["for at most {v}", "costing no more than {v}"]),
    "duration_minutes": ("integer", "length in minutes", [15, 30, 45, 60, 90], ["lasting {v} minutes", "{v} minutes long"]),
    "order_id": ("string", "number of the order", ["A-1183", "B-9041", "ZX-55", "Q-7720"], ["for order {v}", "concerning order {v}"]),
    "notify": ("boolean", "whether to send a notice", [True, False], []),
    "tags": ("array", "list of labels", [["urgent"], ["home", "tax"], ["draft", "v2"]], []),
    "phone": ("string", "telephone number", ["+44 20 7946 0018", "+1 555 0134", "+49 30 901820"], ["with the phone number {v}", "reachable at {v}"]),
    "song": ("string", "name of the song", ["Blue River", "Night Train", "Paper Moon", "Golden Hour"], ["the song {v}", "namely {v}"]),
    "address": ("string", "street and number", ["14 Elm Street", "3 Harbour Road", "90 King's Lane"], ["to {v}", "at {v}"]),
    "account": ("string", "name of the account", ["savings", "household", "holiday fund"], ["from the {v} account", "using my {v} account"]),
    "amount": ("number", "sum of money", [12, 75.5, 250, 999, 40], ["of {v}", "worth {v}"]),
}
TOOLS = {
    "book_table": ("reserves a table in a restaurant", "[Book|Reserve] a table", ["city", "date", "guests", "meal", "phone"]), "send_invoice": ("sends an invoice by mail", "[Send|Mail] an invoice", ["email", "amount", "currency", "order_id", "format"]),
    "create_event": ("puts an event into the calendar", "[Create|Add] an event", ["title", "date", "duration_minutes", "repeat", "notify"]), "get_weather": ("tells the weather", "[Get|Tell me] the weather", ["city", "date", "unit", "language"]),
    "search_flights": ("looks for flights", "[Search|Find] flights", ["city", "date", "seat_class", "max_price", "sort_by"]), "order_shirts": ("orders printed shirts", "[Order|Get me] shirts", ["quantity", "size", "colour", "address", "gift_wrap"]),
    "transfer_money": ("sends money to somebody", "[Transfer|Send] money", ["amount", "currency", "account", "email"]), "cancel_order": ("calls an order off", "[Cancel|Stop] the purchase", ["order_id", "email", "notify"]),
    "rent_vehicle": ("rents a vehicle", "[Rent|Hire] something to drive", ["city", "vehicle", "date", "max_price", "phone"]), "export_report": ("writes a report to a file", "[Export|Write] the report", ["title", "format", "language", "email"]),
    "play_music": ("plays a song", "[Play|Put on] music", ["song", "duration_minutes", "notify"]), "deploy_service": ("puts a version on the servers", "[Deploy|Release] the service", ["title", "environment", "notify", "tags"]),
    "invite_user": ("invites somebody to the workspace", "[Invite|Add] a colleague", ["email", "role", "language", "notify"]), "create_task": ("writes down a task", "[Create|Write down] a task", ["title", "priority", "date", "tags"]),
    "ship_parcel": ("sends a parcel", "[Ship|Post] a parcel", ["address", "quantity", "priority", "gift_wrap", "phone"]), "find_hotel": ("looks for a hotel", "[Find|Look for] a hotel", ["city", "date", "guests", "max_price", "sort_by"]),
}
ERRORS = {"missing_field": "a required field is absent", "wrong_type": "a value has the wrong type", "unknown_value": "a value is not in the list of allowed values", "unknown_field": "the call has a field that the schema does not know", "valid": "the call fits the schema"}
EXTRA = ["foo", "comment", "mood", "retry", "owner", "debug", "shape", "weight_kg", "theme"]


def field_type(name: str) -> str:
    return "string" if name in ENUMS else FIELDS[name][0]


def good_value(name: str, rng: random.Random):
    return rng.choice(ENUMS[name] if name in ENUMS else FIELDS[name][2])


def bad_type(name: str, rng: random.Random):
    kind = field_type(name)
    wrong = {"string": [7, True, ["a"], 3.5], "integer": ["many", "three", True, [2]], "number": ["cheap", "a lot", True], "boolean": ["maybe", "yes please", 12], "array": ["urgent", 5, False]}
    return rng.choice(wrong[kind])


def schema_text(tool: str, names: list[str], required: list[str], rng: random.Random) -> str:
    style = rng.random()
    if style < 0.45:
        lines = [f"{tool}: {TOOLS[tool][0]}" if rng.random() < 0.7 else tool]
        for name in names:
            allowed = f", one of {', '.join(ENUMS[name])}" if name in ENUMS else ""
            lines.append(f"- {name} ({field_type(name)}, {'required' if name in required else 'optional'}{allowed})")
        return "\n".join(lines)
    if style < 0.65:
        def show(name):
            return f"{name}{'' if name in required else '?'}: " + (" | ".join(f'"{v}"' for v in ENUMS[name]) if name in ENUMS else {"integer": "integer", "array": "string[]"}.get(field_type(name), field_type(name)))
        return f"{tool}({', '.join(map(show, names))})  // ? marks optional arguments"
    properties = {n: {"type": field_type(n), **({"enum": ENUMS[n]} if n in ENUMS else {"description": FIELDS[n][1]} if rng.random() < 0.4 else {})} for n in names}
    return json.dumps({"name": tool, "parameters": {"type": "object", "properties": properties, "required": required}}, indent=rng.choice([None, None, 1]))


def pick_tool(rng: random.Random) -> tuple[str, list[str], list[str]]:
    tool = rng.choice(list(TOOLS))
    names = rng.sample(TOOLS[tool][2], rng.randint(3, len(TOOLS[tool][2])) if len(TOOLS[tool][2]) > 3 else 3)
    required = [n for n in names if rng.random() < 0.6] or names[:1]
    return tool, names, required


def broken_call(tool: str, names: list[str], required: list[str], error: str, rng: random.Random) -> tuple[dict, str | None, str]:
    """-> arguments, the field that is wrong, the error that is really there"""
    arguments = {n: good_value(n, rng) for n in names if n in required or rng.random() < 0.5}
    enums = [n for n in arguments if n in ENUMS]
    if error == "missing_field" and len(arguments) > 1:
        field = rng.choice(required)
        del arguments[field]
        return arguments, field, error
    if error == "unknown_value" and enums:
        field = rng.choice(enums)
        arguments[field] = OUTSIDE[field]
        return arguments, field, error
    if error == "unknown_field":
        field = rng.choice(EXTRA)
        arguments[field] = rng.choice(["x", 1, True, "later"])
        return arguments, field, error
    if error in ("wrong_type", "missing_field", "unknown_value"):
        typed = [n for n in arguments if n not in ENUMS]  # a wrong type in an enum would be two errors
        if not typed:
            return arguments, None, "valid"
        field = rng.choice(typed)
        arguments[field] = bad_type(field, rng)
        return arguments, field, "wrong_type"
    return arguments, None, "valid"


def balanced(names: list[str], members: list[str], rng: random.Random) -> str:
    """A member half of the time; `names` has to hold others."""
    wanted = rng.random() < 0.5
    return rng.choice([n for n in names if (n in members) == wanted] or names)


def foreign(names: list[str], rng: random.Random) -> list[str]:
    """Some fields of other tools."""
    return rng.sample([n for n in (*FIELDS, *ENUMS) if n not in names], 2)


def call_text(tool: str, arguments: dict, rng: random.Random) -> str:
    items = list(arguments.items())
    rng.shuffle(items)
    shown = json.dumps(dict(items), indent=rng.choice([None, None, 2]))
    return rng.choice([f"{tool}({', '.join(f'{k}={json.dumps(v)}' for k, v in items)})", f'{{"tool": "{tool}", "arguments": {shown}}}', f"{tool} {shown}", f"Call: {tool}\nArguments: {shown}"])


def call(rng: random.Random) -> Example:
    tool, names, required = pick_tool(rng)
    error = "valid" if rng.random() < 0.5 else rng.choice(["missing_field", "wrong_type", "unknown_value", "unknown_field"])
    arguments, field, error = broken_call(tool, names, required, error, rng)
    state = rng.choice(["{s}\n\n{c}", "Schema:\n{s}\n\nThe model wrote:\n{c}", "# tool\n{s}\n# call\n{c}", "{c}\n\nDefinition: {s}", "Tools:\n{s}\n\nAssistant calls:\n{c}"]).replace("{s}", schema_text(tool, names, required, rng)).replace("{c}", call_text(tool, arguments, rng))
    strict = "" if error != "unknown_field" and rng.random() < 0.6 else rng.choice(["Fields outside the schema are forbidden. ", "No other fields are allowed. "])
    truth = error == "valid"
    found = [claim(rng.choice(["The call is valid.", "The call fits the schema.", "The arguments match the definition.", "This call would be accepted."]), truth, rng) if rng.random() < 0.5
             else claim(rng.choice(["The call has an error.", "Something is wrong with the arguments.", "The call breaks the schema.", "A validator would reject the call."]), not truth, rng)]
    found[0].question.instructions = strict + found[0].question.instructions
    keys = [error, *rng.sample([k for k in ERRORS if k != error], rng.randint(1, 4))]
    found.append(choice(strict + rng.choice(["What is wrong with the call?", "Validate the call.", "validation result", "Which kind of error does the call have?", "Check the arguments."]), [(k, ERRORS[k]) for k in keys], 0, rng))
    if field:
        shown = [field, *[n for n in names if n != field]]
        found.append(choice(strict + rng.choice(["Which field is wrong?", "Which field causes the error?", "field with the problem", "Name the offending field."]), [(n, None) for n in shown], 0, rng, vary=False))
    present = balanced(names + foreign(names, rng), list(arguments), rng)
    found.append(claim(rng.choice([f"The call gives a value for {present}.", f"The argument {present} is present in the call."]), present in arguments, rng))
    name = balanced(names + foreign(names, rng), required, rng)
    found.append(claim(rng.choice([f"{name} is required.", f"The schema demands {name}.", f"A call needs {name}."]), name in required, rng))
    return Example(state, rng.sample(found, rng.randint(2, len(found))))


ASIDES = ["", "", "[Take your time|As discussed|For the usual reasons].", "[Thanks|Thank you]!", "I did this [last week|last year] too.", "My [boss|sister|friend] asked for it."]
POLITE = ["{r}.", "[Can|Could] you {l}?", "Please {l}.", "I [want|need] you to {l}.", "{r}, please.", "Hi, {l}."]


def say_field(name: str, rng: random.Random):
    if name in ENUMS:
        value = rng.choice(ENUMS[name])
        return rng.choice([f"with {name.replace('_', ' ')} {value}", f"{name.replace('_', ' ')}: {value}", f"({value})"])
    forms = FIELDS[name][3]
    return rng.choice(forms).format(v=good_value(name, rng)) if forms else None


def request(rng: random.Random) -> Example:
    tool, names, _ = pick_tool(rng)
    sayable = [n for n in names if n in ENUMS or FIELDS[n][3]]
    required = rng.sample(sayable, rng.randint(2, min(4, len(sayable)))) if len(sayable) >= 2 else sayable
    missing = [] if rng.random() < 0.5 else rng.sample(required, rng.choice([1, 1, 2]) if len(required) > 1 else 1)
    said = [n for n in sayable if n not in missing and (n in required or rng.random() < 0.4)]
    action = expand(TOOLS[tool][1], rng) + "".join(" " + say_field(n, rng) for n in rng.sample(said, len(said)))
    text = expand(rng.choice(POLITE), rng, {"r": action, "l": action[0].lower() + action[1:]}) + " " + expand(rng.choice(ASIDES), rng)
    state = rng.choice(["{s}\n\nUser: {t}", "Tool definition:\n{s}\n\nRequest from {p}: {t}", "{t}\n\n---\n{s}", "Available tool:\n{s}\n\nMessage: {t}"])
    state = state.replace("{s}", schema_text(tool, names, required, rng)).replace("{t}", text.strip()).replace("{p}", person(rng))
    complete = not missing
    found = [claim(rng.choice(["The request contains all required arguments.", "The tool can be called without asking back.", "All that the tool needs is in the request."]), complete, rng) if rng.random() < 0.5
             else claim(rng.choice(["A required argument is missing in the request.", "The assistant has to ask back before the call.", "The user left out something that the tool needs."]), not complete, rng)]
    if len(missing) == 1 and said:
        found.append(choice(rng.choice(["Which required argument is missing?", "What must the assistant ask for?", "missing argument", "Which argument did the user not give?"]), [(n, None) for n in [missing[0], *said]], 0, rng, vary=False))
    if len(missing) <= 1:
        options = [("none missing", None), *((n, None) for n in required)]
        gold = required.index(missing[0]) + 1 if missing else 0
        found.append(choice(rng.choice(["Which required argument is missing, if any?", "What is missing?", "missing argument or none"]), options, gold, rng, vary=False))
    for name in dict.fromkeys([balanced(sayable, said, rng), balanced(sayable, said, rng)]):
        if name in said and len(said) == len(sayable) and rng.random() < 0.6:
            continue
        found.append(claim(rng.choice([f"The user gives the {name.replace('_', ' ')}.", f"The request states {name}.", f"A value for {name} can be taken from the message."]), name in said, rng))
    found.append(choice(rng.choice(["What should happen next?", "next step", "Call the tool or ask?"]), [("call_tool", "everything needed is there"), ("ask_user", "a required argument is missing")], 0 if complete else 1, rng))
    return Example(state, rng.sample(found, rng.randint(2, min(5, len(found)))))


def generate(rng: random.Random) -> Example:
    return call(rng) if rng.random() < 0.5 else request(rng)
