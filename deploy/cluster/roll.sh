#!/bin/sh
# Restarts the servers behind nginx, one after the other, without a refused request: each is taken out of nginx's list,
# finishes what it has, starts anew, and comes back when it is ready. Usage: roll.sh [ADDRESS…], default: all of the list.
#
#   SERVERS   nginx's list of servers, with one `server ADDRESS …;` a line; in a folder that may be written
#   RESTART   restarts one server: gets its address, such as 127.0.0.1:8081, and its port. Returns when it has been started
#   RELOAD    has nginx read its files
#   NGINX_PID file with the id of nginx's master process; empty: it runs elsewhere, and is given its time
#   IDLE_S    how long nginx keeps an idle connection of a client: `keepalive_timeout` of its site
#   WAIT_S    until a server must be ready
#
# Stops at the first server that does not come back, and leaves that one out of the list: the others go on.
set -eu
SERVERS="${SERVERS:-/etc/nginx/umpire/servers}"
RELOAD="${RELOAD:-nginx -s reload}"
RESTART="${RESTART:-restart_unit}"
NGINX_PID="${NGINX_PID-/run/nginx.pid}"
IDLE_S="${IDLE_S:-20}"
WAIT_S="${WAIT_S:-300}"
OLD_WORKER_S=30

restart_unit() { systemctl restart "umpire@$2"; }

say() { printf '%s %s\n' "$(date +%T)" "$*"; }
fail() { say "$*" >&2; exit 1; }

addresses() { awk '$1 == "server" { sub(/;$/, "", $2); print $2 }' "$SERVERS"; }
is_ready() { curl --silent --fail --output /dev/null --max-time 5 "http://$1/readyz"; }

# Whether any server but this one takes work and gets it.
has_other() {
  awk -v own="$1" '$1 == "server" && !/ down;/ { sub(/;$/, "", $2); if ($2 != own) print $2 }' "$SERVERS" |
    while read -r other; do if is_ready "$other"; then echo "$other"; fi; done | grep -q .
}

# mark ADDRESS down|up. The file is replaced as a whole: nginx may read it at any moment.
mark() {
  awk -v own="$1" -v state="$2" '
    { address = $2; sub(/;$/, "", address) }
    $1 == "server" && address == own { sub(/ down;/, ";"); if (state == "down") sub(/;/, " down;") }
    { print }' "$SERVERS" > "$SERVERS.new"
  mv "$SERVERS.new" "$SERVERS"
}

# Has nginx read the list, and returns when no worker that had the old one sends requests on any more: it has ended, or has
# had so long that it only waits for what it sent before, such as a long chat.
reload() {
  if [ -z "$NGINX_PID" ]; then
    $RELOAD
    sleep "$OLD_WORKER_S"
    return
  fi
  old="$(ps -o pid= --ppid "$(cat "$NGINX_PID")")"
  $RELOAD
  end=$(($(date +%s) + OLD_WORKER_S))
  for worker in $old; do
    while kill -0 "$worker" 2> /dev/null && [ "$(date +%s)" -lt "$end" ]; do sleep 0.1; done
  done
}

wait_ready() {
  end=$(($(date +%s) + WAIT_S))
  until is_ready "$1"; do
    [ "$(date +%s)" -lt "$end" ] || return 1
    sleep 0.2
  done
}

# Read by nginx's site with every request.
rolling="$(dirname "$SERVERS")/rolling"
trap 'rm -f "$rolling"' EXIT
trap 'exit 1' HUP INT TERM
: > "$rolling"
say "connections of clients end with their next reply, idle ones within $IDLE_S s"
sleep "$IDLE_S"

# shellcheck disable=SC2046 # an address is a word
[ $# -gt 0 ] || set -- $(addresses)
for address in "$@"; do
  addresses | grep -qxF "$address" || fail "$address is not in $SERVERS."
  has_other "$address" || fail "No other server is ready: $address is not restarted."
  say "$address is taken out"
  mark "$address" down
  reload
  say "$address finishes and starts anew"
  $RESTART "$address" "${address##*:}" || fail "$address could not be restarted; it stays out of $SERVERS."
  wait_ready "$address" || fail "$address is not ready after $WAIT_S s; it stays out of $SERVERS."
  mark "$address" up
  reload
  say "$address is back"
done
