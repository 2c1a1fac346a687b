"""What the demo board's cards say. The same on every machine, except for due dates."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import product
from random import Random
from typing import Any

from django.utils.text import slugify
from django.utils.timezone import now

from boards.verbs.cards import NewCard

# area, subject, keywords
SUBJECTS = (
    ("email", "keeping newsletters out of the spam folder", "SPF, DKIM, bounce rate"),
    ("email", "writing a welcome series", "onboarding, open rate, first purchase"),
    ("email", "cleaning up an old mailing list", "consent, unsubscribe, re-engagement"),
    ("search", "choosing keywords without paid tools", "search intent, long tail"),
    ("search", "moving a site without losing its visitors", "redirects, sitemap, 404"),
    ("search", "describing pictures for everybody", "alt text, accessibility"),
    ("search", "making slow pages fast", "image size, caching, core web vitals"),
    ("shop", "product pages that answer questions", "size chart, reviews, delivery"),
    ("shop", "returns that keep customers", "refund, exchange, return label"),
    ("shop", "selling across borders", "VAT, customs, currency, delivery time"),
    ("shop", "preparing for the holiday rush", "stock, cut-off dates, gift cards"),
    ("shop", "explaining a price rise", "inflation, notice period, loyalty"),
    ("payments", "fewer abandoned checkouts", "guest checkout, wallet, trust marks"),
    ("payments", "card payments that fail", "3-D Secure, retry, insufficient funds"),
    ("payments", "invoices that are paid on time", "payment terms, reminder, late fee"),
    ("privacy", "a cookie banner people can read", "consent, analytics, opt-out"),
    ("privacy", "answering a request for personal data", "access, deadline, identity"),
    ("privacy", "how long to keep customer data", "retention, backups, deletion"),
    ("security", "two-factor sign-in for a whole team", "passkeys, recovery codes"),
    ("security", "spotting a forged invoice", "phishing, bank details, call back"),
    ("security", "what to do after a stolen laptop", "remote wipe, passwords, report"),
    ("support", "answering the ten questions everybody asks", "help page, macros"),
    ("support", "saying no and staying friendly", "tone, alternatives, goodwill"),
    ("support", "support hours that a small team can keep", "time zones, on call"),
    ("hiring", "a job advert without clichés", "salary range, remote work, process"),
    ("hiring", "a first week that isn't chaos", "onboarding, buddy, accounts"),
    ("events", "running a webinar on a small budget", "registration, recording"),
    ("events", "making the most of a trade fair stand", "leads, follow-up, demo"),
)
FORMATS = (
    ("guide", "Guide", 1400),
    ("checklist", "Checklist", 600),
    ("case-study", "Case study", 1100),
    ("faq", "Questions and answers", 800),
    ("newsletter", "Newsletter", 450),
    ("landing-page", "Landing page", 350),
    ("comparison", "Comparison", 1200),
    ("script", "Video script", 700),
)
AUDIENCES = (
    "first-time founders",
    "online shops with one warehouse",
    "non-profits",
    "agencies",
    "local restaurants",
    "freelancers",
    "clubs and schools",
    "software teams",
)
ANGLES = (
    "Start from a mistake that readers have made themselves.",
    "Open with one number and say where it comes from.",
    "Follow one customer through a single day.",
    "Give the short answer first and the reasons afterwards.",
    "Compare how it's done with and without a specialist.",
)
PRIORITIES = (1, 2, 3, 4)
# Of a hundred cards.
HOW_OFTEN = (4, 12, 76, 8)
DUE_SHARE = 0.15


def briefs(count: int) -> list[NewCard]:
    """So many different content briefs, for the drafting queue."""
    random = Random(1)
    return [
        _brief(random, *choice)
        for choice in random.sample(
            list(product(SUBJECTS, FORMATS, AUDIENCES)), k=count
        )
    ]


def _brief(
    random: Random,
    subject: tuple[str, str, str],
    format: tuple[str, str, int],
    audience: str,
) -> NewCard:
    area, topic, keywords = subject
    label, name, usual = format
    words = round(usual * random.uniform(0.8, 1.3), -1)
    return NewCard(
        title=f"{name}: {topic}, for {audience}",
        description=(
            f"Readers are **{audience}**. {random.choice(ANGLES)}\n\n"
            f"- about {words:.0f} words\n- say in the first paragraph who it's for\n"
            "- end with one thing to do today"
        ),
        priority=random.choices(PRIORITIES, HOW_OFTEN)[0],
        labels=[label, area],
        due=_due(random.randint(2, 30)) if random.random() < DUE_SHARE else None,
        properties={"audience": audience, "format": label},
        payload={
            "url": f"https://www.example.com/{area}/{slugify(topic)}",
            "keywords": keywords.split(", "),
            "word_count": int(words),
        },
    )


def _due(days: int) -> datetime:
    return (now() + timedelta(days=days)).replace(
        hour=17, minute=0, second=0, microsecond=0
    )


IDEAS = (
    ("Interview three shops that stopped giving discounts", 3, ["interview"]),
    ("Should the newsletter come out on Tuesdays again?", 4, ["newsletter"]),
    ("Glossary: twelve words of the trade that nobody explains", 3, ["glossary"]),
    ("Ask legal what we may say about competitors by name", 2, ["question"]),
    ("Replace the stock photos on the pricing page", 4, ["pictures"]),
    ("A calendar of the year's trade fairs, as one page", 3, ["events"]),
    ("Collect the questions from last month's webinar", 3, ["webinar", "faq"]),
    ("Retell the warehouse story as a video script", 4, ["script", "shop"]),
    ("Old guides: which of them still get visitors?", 2, ["audit", "search"]),
    ("Write down how we write: two pages, no more", 3, ["style"]),
    ("Spanish edition: which ten pieces first?", 3, ["translation"]),
    ("Postmortem of the campaign that nobody noticed", 5, ["lessons"]),
)

# Title, the draft's beginning: what went through the queues before.
PUBLISHED = (
    (
        "Guide: moving a site without losing its visitors, for agencies",
        "Make a list of every address that anybody has ever linked to. Most of the"
        " work of a move is done when that list is complete.",
    ),
    (
        "Checklist: a first week that isn't chaos, for software teams",
        "Before Monday: an account, a laptop that starts, one person to ask. The rest"
        " of this list can wait until Tuesday.",
    ),
)
IN_REVIEW = (
    (
        "Questions and answers: returns that keep customers, for freelancers",
        "Who pays for the parcel back? Say it before the purchase, and the question"
        " never comes up in anger.",
    ),
    (
        "Newsletter: preparing for the holiday rush, for local restaurants",
        "Forty tables, one oven, three weeks. What would you stop offering first?",
    ),
    (
        "Case study: invoices that are paid on time, for non-profits",
        "The reminder used to go out after thirty days, written by the treasurer at"
        " night. It's now a sentence on the invoice itself.",
    ),
)
FAILING = NewCard(
    title="Comparison: card payments that fail, for clubs and schools",
    description="Take the figures from the study that the page below links to.",
    labels=["comparison", "payments"],
    properties={"audience": "clubs and schools", "format": "comparison"},
    payload={
        "url": "https://www.example.com/payments/study-of-failed-payments",
        "keywords": ["3-D Secure", "retry"],
        "word_count": 1200,
    },
)
FIRST_FAILURE = "The page answers 404, so there are no figures to work with."
SECOND_FAILURE = (
    "Still 404, and the archived copy lacks the tables. A person has to find the study."
)
ABOUT_THE_FAILURE = "The authors have moved it. I've written to them; requeue it then."
HAND_OFF = (
    "Outline is fine, nothing written yet. The price list on that page is last year's:"
    " leave numbers out."
)
APPROVAL = "Reads well. I've shortened the second sentence."


def ideas() -> Iterator[NewCard]:
    for title, priority, labels in IDEAS:
        yield NewCard(title=title, priority=priority, labels=labels)


def drafted(title: str, draft: str) -> tuple[NewCard, dict[str, Any]]:
    """A card for the drafting queue, and what the drafter answered."""
    return (
        NewCard(title=title, labels=[slugify(title.split(":")[0])]),
        {"draft": draft, "word_count": len(draft.split())},
    )


def for_people(handle: str) -> list[NewCard]:
    """What the drafter asks people for; some of it of this one."""
    return [
        NewCard(
            title="Interview five small shops about failed payments",
            description="Six of twenty are done. Ask what they do when a card is"
            " refused, and **write it down in their words**.",
            priority=1,
            assignee=handle,
            payload={"goal": 20, "done": 6},
        ),
        NewCard(
            title="Choose a picture for the article about returns",
            description="Three are in the folder. Say which one, and its alt text.",
            priority=2,
            payload={"folder": "pictures/returns", "pictures": 3},
        ),
        NewCard(
            title="Ask a lawyer to read the text about cookie banners",
            description="It says what may be refused without a reason. Is that so?",
            labels=["privacy"],
        ),
        NewCard(
            title="Settle how numbers below ten are written",
            description="The house style says two things about them.",
            priority=4,
            assignee=handle,
        ),
        NewCard(title="Thank the guest authors", priority=5),
    ]
