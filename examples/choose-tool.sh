#!/bin/sh
# Picks the tool for a request with curl alone, "none" among them.
# Run: sh examples/choose-tool.sh "What will the weather be like in Oslo tomorrow?"   (UMPIRE_URL, UMPIRE_API_KEY)
set -eu
request=${1:-"What will the weather be like in Oslo tomorrow?"}
# A JSON string: quotes and backslashes escaped, line ends as spaces.
state=$(printf '%s' "$request" | tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g')
curl -sS --fail-with-body "${UMPIRE_URL:-http://127.0.0.1:8080}/ai/v1/systemone" \
  -H "Authorization: Bearer ${UMPIRE_API_KEY:-}" -H "Content-Type: application/json" \
  -d '{"model": "kev", "state": "'"$state"'", "questions": {"tool": {"type": "choice",
       "instructions": "Which tool answers the request?",
       "criteria": {"get_weather": "forecast of temperature, rain and wind for a place",
                    "search_flights": "flights between two cities on a date",
                    "convert_currency": "an amount of money in another currency",
                    "none": "none of these tools helps"}}}}'
echo
