"""JSON Schema for contracts: what we promise to judge, and the judgement."""

from leases.schemas.accept import accept
from leases.schemas.engine import Problem, problems
from leases.schemas.refusal import BadSchema

__all__ = ["BadSchema", "Problem", "accept", "problems"]
