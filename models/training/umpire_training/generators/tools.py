"""Requests and the tool that serves them, with near misses among the options and requests that none serves."""

from __future__ import annotations

import random

from ..augment import NONE_OPTIONS
from ..tasks import Example
from .common import choice, pick, yes_no

TOOLS = {  # name -> (descriptions, requests)
    "get_weather": (["current weather and forecast for a place", "returns temperature and rain for a city"],
                    ["will it rain in Oslo tomorrow", "how warm is it in Madrid", "do I need an umbrella this afternoon"]),
    "send_email": (["sends an e-mail to a person", "writes and sends mail"], ["mail the report to Priya", "write to the landlord that the heating is broken"]),
    "create_event": (["adds an appointment to the calendar", "creates a calendar event"], ["put lunch with Tom on Friday at noon in my calendar", "block two hours tomorrow for writing"]),
    "list_events": (["shows appointments of a day", "reads the calendar"], ["what do I have on today", "when is my next meeting"]),
    "set_timer": (["starts a countdown", "counts down and rings"], ["wake me in twenty minutes", "set a timer for the pasta, nine minutes"]),
    "convert_currency": (["turns an amount into another currency", "exchange rates and conversion"], ["how much is 40 dollars in euros", "what do I get for 5000 yen in pounds"]),
    "search_flights": (["finds flights between two cities", "flight search by date and place"], ["find me a flight from Rome to Paris on the 4th", "cheapest way to fly to Lisbon in May"]),
    "book_hotel": (["reserves a hotel room", "books accommodation"], ["I need a room in Vienna for two nights", "reserve the Grand Hotel from Friday to Sunday"]),
    "translate_text": (["translates text between languages", "turns text into another language"], ["how do you say thank you in Polish", "put this letter into French"]),
    "run_sql": (["runs a query on the company database", "reads figures from the warehouse"], ["how many orders came in last week by country", "give me the ten customers with the highest revenue"]),
    "play_music": (["plays songs and playlists", "controls the music player"], ["play some jazz", "put on the new album by Adele"]),
    "turn_on_lights": (["switches lamps in the home", "controls lights by room"], ["make it bright in the kitchen", "lights on in the hallway please"]),
    "order_food": (["orders meals from restaurants", "food delivery"], ["get me a pizza with mushrooms", "order sushi for four people"]),
    "web_search": (["searches the web for current facts", "looks up pages on the internet"], ["who won the election in Chile", "find articles about solid state batteries"]),
    "calculate": (["works out arithmetic", "evaluates a mathematical expression"], ["what is 17 percent of 2340", "multiply 43 by 19 and subtract 7"]),
    "create_ticket": (["opens a ticket in the issue tracker", "files a bug report"], ["file a bug: the login button does nothing", "open an issue for the broken export"]),
    "get_stock_price": (["price of a share", "stock quotes by symbol"], ["what does Siemens trade at", "how did the Apple share do today"]),
    "navigate": (["route and travel time to a place", "directions on a map"], ["how do I get to the airport from here", "fastest way home by bike"]),
    "summarize_document": (["shortens a document", "writes a summary of a file"], ["give me the main points of this contract", "sum up the attached paper in five lines"]),
    "read_inbox": (["lists received e-mails", "reads new mail"], ["any new mail from the bank", "read me my unread messages"]),
}
ASKS = ["Which tool should be called?", "Pick the function for this request.", "tool", "Choose the tool that serves the user.", "Route the request.", "next action", "Which function handles this?"]
LEADS = ["{}", "{}?", "please {}", "User: {}", "can you help: {}", "hey, {}"]


def generate(rng: random.Random) -> Example:
    gold = pick(rng, list(TOOLS))
    state = pick(rng, LEADS).format(pick(rng, TOOLS[gold][1]))
    others = rng.sample([name for name in TOOLS if name != gold], rng.randint(1, 12))
    options = [(name, pick(rng, TOOLS[name][0])) for name in [gold, *others]]
    place = 0
    if rng.random() < 0.25:
        options.append(pick(rng, NONE_OPTIONS))
        if rng.random() < 0.5 and len(options) > 2:
            options, place = options[1:], len(options) - 2
    asked = gold if rng.random() < 0.5 else others[0]
    can = yes_no(pick(rng, ["The tool \"{n}\" ({d}) can do what is asked.", "Can {n} serve this? It {d}.", "{n}: {d}. Is this the right tool?"]).format(
        n=asked, d=pick(rng, TOOLS[asked][0])), asked == gold)
    return Example(state, [choice(pick(rng, ASKS), options, place, rng), can][: rng.randint(1, 2)])
