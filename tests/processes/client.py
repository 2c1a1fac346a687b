"""One worker as its own process: the standard library, HTTP, and what it saw.

Started by tests.processes.fleet. It reads commands from its standard input, one JSON
object a line (`do` names the function), and answers with one line each. What it did is
written to the file named by its first argument, line by line and at once, so that
nothing is lost when it is killed: the history of tests.processes.history.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time
from http.client import HTTPConnection, HTTPException

PATIENCE_SECONDS = 30
RETRY_SECONDS = 0.1


class Unknown(Exception):
    """The call was cut off: it may have worked or not."""


class Worker:
    def __init__(self, log, name):
        self.log, self.name = log, name
        self.host, self.port, self.token = "", 0, ""
        self.connection = None

    def call(self, path, body=None, headers=None, method="POST"):
        """(status, reply). Raises Unknown where no reply came."""
        if self.connection is None:
            self.connection = HTTPConnection(
                self.host, self.port, timeout=PATIENCE_SECONDS
            )
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        text = json.dumps(body).encode() if body is not None else None
        try:
            self.connection.request(method, path, text, sent)
            answer = self.connection.getresponse()
            told = json.loads(answer.read() or b"null")
        except (OSError, HTTPException, ValueError) as error:
            self.connection.close()
            self.connection = None
            raise Unknown(repr(error)) from error
        self.retry_after = answer.headers.get("Retry-After")
        return answer.status, told

    def note(self, kind, **facts):
        line = {"by": self.name, "at": time.time(), "kind": kind, **facts}
        self.log.write(json.dumps(line) + "\n")

    # The commands.

    def set(self, host, port, token):
        self.host, self.port, self.token = host, port, token
        return "set"

    def ask(self, path, body=None, headers=None, method="POST", at=0.0):
        """One call, at a moment that many can agree on."""
        self.wait_until(at)
        try:
            status, told = self.call(path, body, headers, method)
        except Unknown as unknown:
            return {"status": 0, "body": str(unknown)}
        return {"status": status, "body": told, "retry_after": self.retry_after}

    def wait_until(self, at):
        time.sleep(max(0.0, at - time.time() - 0.002))
        while time.time() < at:
            pass

    def ask_often(self, times, path, body=None, method="POST", spoof=False):
        """The statuses of many calls, and the longest time one took."""
        statuses, longest = [], 0.0
        for number in range(times):
            address = f"10.{number % 250}.{random.randrange(250)}.1"
            headers = {"X-Forwarded-For": address} if spoof else None
            started = time.monotonic()
            statuses.append(self.ask(path, body, headers, method)["status"])
            longest = max(longest, time.monotonic() - started)
        return {"statuses": statuses, "longest": longest}

    def drain(self, queue, at=0.0, **habits):
        """Claim and work until the queue is drained; how many were completed."""
        self.wait_until(at)
        completed = 0
        while (claims := self.claim(queue, habits)) is not None:
            for claim in claims:
                completed += self.work(claim, habits)
        return completed

    def claim(self, queue, habits):
        """Claims, in a list; None at the end of the work."""
        count = habits.get("count")
        key = hashlib.sha256(os.urandom(16)).hexdigest()
        while True:
            self.note("claiming", key=key)
            try:
                status, told = self.call(
                    f"{queue}:claim-next",
                    {"count": count} if count else {},
                    {"Idempotency-Key": key} if habits.get("keys") else {},
                )
            except Unknown as unknown:
                self.note("claim", outcome="info", error=str(unknown))
                time.sleep(RETRY_SECONDS)
                continue
            claims = (told.get("claims") if count else [told]) if status == 200 else []
            claims = [one for one in claims or [] if one.get("card")]
            for one in claims:
                self.note(
                    "claim",
                    outcome="ok",
                    card=one["card"]["id"],
                    lease=one["lease"]["id"],
                    attempt=one["lease"]["attempt"],
                    receipt=hashlib.sha256(one["lease_token"].encode()).hexdigest(),
                )
            if claims:
                return claims
            self.note("claim", outcome="none", status=status, reason=told.get("reason"))
            if told.get("reason") == "drained" and not habits.get("stays"):
                return None
            time.sleep(habits.get("poll", 0.05))

    def work(self, claim, habits):
        """1 when the completion was acknowledged."""
        self.misbehave("crash", habits)
        if self.happens("zombie", habits):
            time.sleep(habits["zombie_seconds"])
        time.sleep(habits.get("work", 0.0))
        lease, receipt = claim["lease"], claim["lease_token"]
        facts = {"card": claim["card"]["id"], "lease": lease["id"]}
        output = {"by": self.name, "lease": lease["id"]}
        if claim["card"]["title"] in habits.get("poison", ()):
            os.kill(os.getpid(), signal.SIGKILL)
        verb, body = "complete", {"output": output}
        if self.happens("fail", habits):
            verb, body = "fail", {"reason": "As asked."}
        self.misbehave("crash", habits)
        for _ in range(habits.get("tries", 50)):
            self.note("finishing", verb=verb, **facts)
            try:
                status, _ = self.call(
                    f"/v1/leases/{lease['id']}:{verb}", {"lease_token": receipt, **body}
                )
            except Unknown as unknown:
                self.note(verb, outcome="info", error=str(unknown), **facts)
                time.sleep(RETRY_SECONDS)
                continue
            if status == 503:
                time.sleep(RETRY_SECONDS)
                continue
            outcome = "ok" if status == 200 else "fail"
            self.note(verb, outcome=outcome, status=status, **facts)
            return int(verb == "complete" and status == 200)
        return 0

    def happens(self, what, habits):
        return random.random() < habits.get(what, 0.0)

    def misbehave(self, what, habits):
        if self.happens(what, habits):
            self.note("suicide")
            os.kill(os.getpid(), signal.SIGKILL)


def answer(told):
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def main():
    path, name, seed = sys.argv[1:]
    random.seed(seed)
    with open(path, "a", buffering=1) as log:
        worker = Worker(log, name)
        answer("ready")
        for line in sys.stdin:
            command = json.loads(line)
            answer(getattr(worker, command.pop("do"))(**command))


if __name__ == "__main__":
    main()
