"""Log lines and JSON records: severity, component, fields, whether something is said at all."""

from __future__ import annotations

import json
import random

from ..tasks import Example
from .common import PEOPLE, choice, peaked, pick, score, yes_no

# component -> (description, [(severity 0..1, message)])
COMPONENTS = {
    "database": ("storage of data, queries, replication", [
        (1.0, "primary lost, writes refused"), (0.7, "replication lag {n}s above limit"), (0.4, "slow query {n}00ms"), (0.0, "vacuum finished in {n}s"),
        (0.7, "too many connections"), (0.0, "checkpoint complete")]),
    "network": ("connections, DNS, load balancing", [
        (1.0, "uplink down, no route to host"), (0.7, "packet loss {n}0 percent"), (0.4, "DNS lookup retried"), (0.0, "link up 1000 Mbit"),
        (0.7, "TLS handshake failed with peer 10.0.{n}.4"), (0.0, "health check passed")]),
    "authentication": ("logins, tokens, permissions", [
        (1.0, "signing key leaked, all tokens revoked"), (0.7, "{n}00 failed logins for user admin"), (0.4, "token expired for user u{n}"),
        (0.0, "user u{n} signed in"), (0.4, "permission denied for group guests"), (0.0, "password changed by u{n}")]),
    "payments": ("card charges, payouts, invoices", [
        (1.0, "all charges fail since {n} minutes"), (0.7, "provider answered 502 for {n} charges"), (0.4, "charge declined by bank"),
        (0.0, "payout of batch {n} done"), (0.0, "invoice {n} created")]),
    "scheduler": ("timed jobs and queues", [
        (1.0, "queue full, jobs are dropped"), (0.7, "job nightly-export failed {n} times"), (0.4, "job {n} started late"), (0.0, "job cleanup finished"),
        (0.0, "{n} jobs waiting")]),
    "disk": ("files, space, backups", [
        (1.0, "no space left on device, data not written"), (0.7, "disk at 9{n} percent"), (0.4, "backup took longer than usual"),
        (0.0, "backup finished, {n} GB"), (0.0, "log rotated")]),
}
SEVERITIES = [["debug", "info", "warning", "error", "critical"], ["harmless", "worth a look", "serious", "outage"], ["low", "medium", "high"],
              ["normal operation", "a problem without effect on users", "users are affected"], ["ok", "warning", "critical"]]
COUNTRIES = ["Norway", "Japan", "Brazil", "Kenya", "Canada", "Poland", "India", "Spain"]
STATUSES = {"shipped": "the goods are on their way", "cancelled": "the order was called off", "paid": "money received, not yet sent",
            "refunded": "the money was given back", "pending": "waiting for payment", "delivered": "the customer has the goods"}


def log_line(rng: random.Random, component: str, message: str) -> str:
    stamp = f"2024-0{rng.randint(1, 9)}-{rng.randint(10, 28)}T{rng.randint(10, 23)}:{rng.randint(10, 59)}:{rng.randint(10, 59)}Z"
    tag = pick(rng, [component, component[:4], f"svc-{component}", ""])
    return pick(rng, ["{s} [{t}] {m}", "{s} {t}: {m}", "{t} {m}", '{{"ts":"{s}","svc":"{t}","msg":"{m}"}}']).format(s=stamp, t=tag, m=message)


def logs(rng: random.Random) -> Example:
    lines, worst, where = [], -1.0, ""
    for component in rng.sample(list(COMPONENTS), rng.randint(1, 4)):
        severity, message = pick(rng, COMPONENTS[component][1])
        if severity == worst:
            continue
        lines.append(log_line(rng, component, message.format(n=rng.randint(2, 9))))
        if severity > worst:
            worst, where = severity, component
    rng.shuffle(lines)
    names = [where, *rng.sample([name for name in COMPONENTS if name != where], rng.randint(1, 5))]
    options = [(name, COMPONENTS[name][0]) for name in names]
    levels = pick(rng, SEVERITIES)
    found = [
        choice(pick(rng, ["Which component has the most serious entry?", "Where is the problem?", "Which team has to look at this?", "component"]), options, 0, rng),
        score(pick(rng, ["How serious is it?", "severity", "Rate the severity of the worst entry.", "log level"]), levels, peaked(len(levels), worst)),
        yes_no(pick(rng, ["Are users affected?", "Should somebody be woken up?", "There is an outage.", "Does this need action now?"]), worst >= 0.7)]
    return Example("\n".join(lines), rng.sample(found, rng.randint(1, 3)))


def record(rng: random.Random) -> Example:
    person, country, status = pick(rng, PEOPLE), pick(rng, COUNTRIES), pick(rng, list(STATUSES))
    total, vip = rng.randint(5, 2500), rng.random() < 0.5
    fields = {"order_id": rng.randint(1000, 9999), "customer": {"name": person, "country": country, "vip": vip}, "status": status,
              "total": total, "items": rng.randint(1, 9), "gift": rng.random() < 0.5}
    if rng.random() < 0.4:
        del fields["gift"]
    names = list(fields)
    rng.shuffle(names)
    state = json.dumps({name: fields[name] for name in names}, indent=pick(rng, [None, None, 2]))
    other = pick(rng, [c for c in COUNTRIES if c != country])
    shown = [status, *rng.sample([s for s in STATUSES if s != status], rng.randint(1, 5))]
    limit = pick(rng, [50, 100, 500, 1000])
    found = [
        choice(pick(rng, ["What is the state of the order?", "status", "Which status does the order have?"]), [(s, STATUSES[s]) for s in shown], 0, rng),
        yes_no(pick(rng, ["Is the total above {}?", "total > {}", "The order is worth more than {}."]).format(limit), total > limit),
        yes_no(pick(rng, ["Is the customer a VIP?", "vip customer", "The buyer has VIP status."]), vip),
        choice("Where does the customer live?", [(c, None) for c in (country, other, *rng.sample([c for c in COUNTRIES if c not in (country, other)], 2))], 0, rng),
        yes_no(pick(rng, ["Does the record say whether it is a gift?", "The field gift is present."]), "gift" in fields)]
    return Example(state, rng.sample(found, rng.randint(2, 4)))


def generate(rng: random.Random) -> Example:
    return logs(rng) if rng.random() < 0.5 else record(rng)
