#!/bin/sh
# RESTART of roll.sh for compose.yaml beside this file: 172.30.77.11:8080 is umpire-1, and so on.
set -eu
host="${1%:*}"
docker compose -f "$(dirname "$0")/compose.yaml" up --detach --no-deps --force-recreate "umpire-$((${host##*.} - 10))"
