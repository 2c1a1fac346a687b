import math
import random

import pytest
from django.db import connection

from supervision.histograms import BOUNDS, added, at_least, bucket, percentile


def histogram(values):
    found = [0] * (max(map(bucket, values)) + 1)
    for value in values:
        found[bucket(value)] += 1
    return found


@pytest.mark.parametrize("seed", range(20))
def test_a_percentile_is_in_the_bucket_of_the_true_one(seed):
    chance = random.Random(seed)
    values = sorted(chance.lognormvariate(2, 3) for _ in range(chance.randint(1, 500)))
    for share in (0.01, 0.5, 0.95, 1.0):
        true = values[math.ceil(share * len(values)) - 1]
        found = percentile(histogram(values), share)
        if bucket(true) == len(BOUNDS):
            assert found == BOUNDS[-1]
            continue
        assert found == pytest.approx(true, rel=0.42, abs=0.01)


def test_nothing_has_no_percentile():
    assert percentile([], 0.5) is None
    assert percentile([0, 0], 0.5) is None


def test_histograms_of_different_lengths_add_up():
    assert added([[1, 2], [], [0, 1, 4]]) == [1, 3, 4]
    assert added([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_how_many_took_at_least_so_long_is_right_but_for_one_bucket(seed):
    chance = random.Random(seed)
    values = [chance.lognormvariate(3, 2) for _ in range(300)]
    for seconds in (0.005, 1.0, 30.0, 120.0, 10**7):
        found = at_least(histogram(values), seconds)
        true = sum(value >= seconds for value in values)
        doubtful = sum(bucket(value) == bucket(seconds) for value in values)
        assert abs(found - true) <= doubtful


def test_the_database_sorts_into_the_same_buckets(db):
    values = [0.0, 0.001, *BOUNDS, *(bound * 1.2 for bound in BOUNDS), 10.0**9]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT width_bucket(v, %s::float8[]) FROM unnest(%s::float8[])"
            " WITH ORDINALITY AS v (v, n) ORDER BY n",
            [list(BOUNDS), values],
        )
        assert [row[0] for row in cursor.fetchall()] == list(map(bucket, values))
