"""A Python function as a worker of Novum's queues. Needs nothing but Python ≥ 3.11.

from novum_client import worker

@worker(queue="reports", concurrency=4)
def report(job):
    job.progress("reading the figures")
    return {"pages": len(job.payload["files"])}

report.run()
"""

from novum_client.client import Client
from novum_client.ending import Tally
from novum_client.errors import (
    Cancelled,
    Fatal,
    Interrupted,
    LeaseLost,
    NovumError,
    Refused,
    Retry,
    Stopped,
    Unreached,
    WaitUntil,
)
from novum_client.job import Job
from novum_client.shapes import Comment
from novum_client.worker import Worker, worker

__all__ = [
    "Cancelled",
    "Client",
    "Comment",
    "Fatal",
    "Interrupted",
    "Job",
    "LeaseLost",
    "NovumError",
    "Refused",
    "Retry",
    "Stopped",
    "Tally",
    "Unreached",
    "WaitUntil",
    "Worker",
    "worker",
]
