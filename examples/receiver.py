#!/usr/bin/env python3
"""A receiver of webhooks: python3 examples/receiver.py whsec_… [--port 9000]

Needs the public library: pip install standardwebhooks. Answers quickly, drops repeats
by `webhook-id`, and tells events of a card in their order by `sequence`.
"""

import argparse
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

REMEMBERED = 10_000


class Receiver(BaseHTTPRequestHandler):
    webhook: Webhook
    seen: OrderedDict[str, None] = OrderedDict()
    latest: dict[str, int] = {}

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            event = self.webhook.verify(body, headers)
        except (WebhookVerificationError, ValueError):
            self.answer(401)
            return
        self.answer(204)
        if not self.is_repeat(headers["webhook-id"]):
            self.handle_event(event)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def is_repeat(self, webhook_id: str) -> bool:
        """At least once means: sometimes twice. A real receiver keeps this in its
        database, in the transaction that does the work."""
        if webhook_id in self.seen:
            return True
        self.seen[webhook_id] = None
        if len(self.seen) > REMEMBERED:
            self.seen.popitem(last=False)
        return False

    def handle_event(self, event: dict) -> None:
        card, lease = event["data"]["card"], event["data"]["lease"]
        text = event["type"]
        if card:
            number = event["data"]["sequence"]
            late = " (late)" if number < self.latest.get(card["id"], 0) else ""
            self.latest[card["id"]] = max(number, self.latest.get(card["id"], 0))
            text += f" {card['key']} #{number}{late} {card['title']!r}"
        if lease and lease["holder"]:
            text += f" by @{lease['holder']['handle']}, attempt {lease['attempt']}"
        print(text, flush=True)

    def log_message(self, *arguments: object) -> None:
        """Events are what's told here."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Receives and tells webhooks.")
    parser.add_argument("secret", help="whsec_… as it was shown with the endpoint")
    parser.add_argument("--port", type=int, default=9000)
    options = parser.parse_args()
    Receiver.webhook = Webhook(options.secret)
    with ThreadingHTTPServer(("127.0.0.1", options.port), Receiver) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
