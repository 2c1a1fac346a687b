"""An agent that has never seen the product: it has an address and a token, and reads
`/llms.txt`, nothing else.

What it can by itself is what any reader of that text can: find the numbered steps by
their names in bold, fill in braces from the answers it got, and tell a null from a job.
No address, field or verb of the product stands here but those words.
"""

import json
import re
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

CALL = re.compile(r"`(GET|POST) (http[^`\s]+)`(?:\s+`({.*})`)?")
BRACES = re.compile(r"{([\w.]+)}")


class Stranger:
    def __init__(self, address, token):
        self.token, self.known, self.asked = token, {}, []
        text = self.fetch("GET", f"{address}/llms.txt").decode()
        assert "Authorization: Bearer" in text
        self.steps = dict(self.find_steps(text))

    def find_steps(self, text):
        """The call that follows each word in bold."""
        for piece in re.split(r"(?=\*\*\w+\*\*)", text)[1:]:
            if found := CALL.search(piece):
                yield re.match(r"\*\*(\w+)\*\*", piece)[1], found.groups()

    def fetch(self, method, url, body=None):
        self.asked.append(f"{method} {url}")
        headers = {"Authorization": f"Bearer {self.token}"}
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data, headers, method=method)
        with urlopen(request, timeout=60) as answer:
            return answer.read()

    def do(self, step, **more):
        method, url, body = self.steps[step]
        known = {**self.known, **more}
        url = BRACES.sub(lambda name: str(look_up(known, name[1])), url)
        given = filled(json.loads(body), known) if body else None
        self.known[step] = json.loads(self.fetch(method, url, given))
        return self.known[step]

    def work_everywhere(self):
        for board in self.do("boards")["items"]:
            for column in self.do("columns", board=board)["items"]:
                if column["is_queue"]:
                    self.known |= {"board": board, "column": column}
                    self.drain()

    def drain(self):
        while True:
            claim = self.do("claim")
            if claim["card"] is None:
                if claim["reason"] == "drained":
                    return
                time.sleep(claim.get("retry_after_seconds") or 1)
                continue
            self.do("renew")
            if "impossible" in claim["card"]["title"].lower():
                self.do("fail", why="I can't.")
            else:
                self.do("complete", result={"did": claim["card"]["title"]})


def look_up(known, path):
    value = known
    for name in path.split("."):
        value = value[name]
    return value


def filled(body, known):
    """Each `"{name}"` replaced by what it stands for."""
    whole = {name: BRACES.fullmatch(str(value)) for name, value in body.items()}
    return {
        name: look_up(known, found[1]) if found else body[name]
        for name, found in whole.items()
    }


if __name__ == "__main__":
    stranger = Stranger(*sys.argv[1:])
    try:
        stranger.work_everywhere()
    except HTTPError as error:
        sys.exit(f"{error.url}: {error.read().decode()}")
    print(json.dumps(stranger.asked))  # noqa: T201
