#!/usr/bin/env python3
"""A fleet that drains the demo's Drafting column: claim, heartbeat, complete or fail.

With `--crash` workers kill themselves with -9 in the middle of a card. The report at the
end, made of the server's events, shows that nothing was lost or done twice.
"""

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path


def call(method, path, body=None):
    """One REST call. A problem is an answer, too: it has a `code`."""
    request = urllib.request.Request(
        os.environ["NOVUM_URL"] + "/v1" + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["NOVUM_TOKEN"]},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.request.HTTPError as problem:
        return json.load(problem)


def heartbeat(lease, proof, pause, stop):
    while not stop.wait(pause):
        if "code" in call("POST", lease + ":renew", proof):
            return  # lost: whoever has the card now goes on with it


def work(claim_next, options):
    """One worker: the loop of the README."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the fleet by its head
    while True:
        claim = call("POST", claim_next, {"lease_ttl_seconds": options.lease})
        if not claim.get("card"):
            time.sleep(min(claim.get("retry_after_seconds") or 0.5, 0.5))
            continue
        lease, stop = f"/leases/{claim['lease']['id']}", threading.Event()
        proof = {"lease_token": claim["lease_token"]}
        beat = (lease, proof, options.lease / 3, stop)
        threading.Thread(target=heartbeat, args=beat, daemon=True).start()
        time.sleep(random.uniform(0.5, 1.5) * options.work)
        if random.random() < options.crash:
            os.kill(os.getpid(), signal.SIGKILL)
        if random.random() < options.fail:
            call("POST", lease + ":fail", {**proof, "reason": "no luck"})
        else:
            draft = {"text": f"A draft of {claim['card']['title']!r}."}
            call("POST", lease + ":complete", {**proof, "output": draft})
        stop.set()


def feed(board, cursor=""):
    """All events after the cursor, and where to go on."""
    page, events = {"next_page_token": "more"}, []
    while page["next_page_token"]:
        page = call("GET", f"/events?board_id={board}&limit=200&after={cursor}")
        events, cursor = events + page["items"], page["cursor"]
    return events, cursor


def drain(board, column, options):
    """Keep the fleet at its size until no card is left; returns what was seen."""
    process = multiprocessing.get_context("spawn").Process
    job = (f"/boards/{board}/columns/{column}:claim-next", options)
    fleet, seen, done, left = [], Counter(), Counter(), True
    cursor = feed(board)[1]
    while left:
        seen["killed"] += sum(not worker.is_alive() for worker in fleet)
        fleet = [worker for worker in fleet if worker.is_alive()]
        for _ in range(options.workers - len(fleet)):
            fleet.append(process(target=work, args=job, daemon=True))
            fleet[-1].start()
        time.sleep(1)
        cards = f"/cards?column_id={column}&page_size=1&state="
        left = any(call("GET", cards + s)["items"] for s in ("open", "claimed"))
        events, cursor = feed(board, cursor)
        for event in (one for one in events if one["column_id"] == column):
            left = True  # what ended last may be told a moment later
            lease = event["data"].get("lease", {})
            seen[event["type"].removeprefix("card.lease.")] += 1
            seen["requeued"] += lease.get("outcome") == "requeued"
            done[event["card_id"]] += event["type"] == "card.lease.completed"
        shown = ("claimed", "completed", "failed", "expired", "killed")
        print(*(f"{name} {seen[name]}" for name in shown), sep="  ", flush=True)
    return seen + Counter({"done twice": sum(times > 1 for times in done.values())})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--crash", type=float, default=0, help="share of cards, 0 to 1")
    parser.add_argument("--fail", type=float, default=0, help="share of cards, 0 to 1")
    parser.add_argument("--work", type=float, default=0.3, help="seconds a card")
    parser.add_argument("--lease", type=int, default=5, help="its length in seconds")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    demo = json.loads(Path(os.getenv("NOVUM_DATA", ".novum"), "demo.json").read_text())
    os.environ.update(NOVUM_URL=demo["url"], NOVUM_TOKEN=demo["worker_token"])
    board = demo["boards"][0]
    (drafting,) = (c["id"] for c in board["columns"] if c["name"] == "Drafting")
    seen = drain(board["id"], drafting, given)
    names = {"deadlettered": "dead-lettered", "expired": "superseded"}
    for name in ("completed", "requeued", "deadlettered", "expired", "done twice"):
        print(f"{names.get(name, name):<14}{seen[name]}")
    sys.exit(1 if seen["done twice"] else 0)
