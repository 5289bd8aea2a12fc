import random

from kafka.cluster import Backoff


def test_pauses_double_up_to_the_limit_with_a_fifth_of_jitter():
    backoff = Backoff(100, 1_000, random.Random(1))
    for failures, middle in ((1, 0.1), (2, 0.2), (3, 0.4), (4, 0.8), (5, 1.0), (500, 1.0)):
        for _ in range(50):
            assert middle * 0.8 <= backoff.seconds(failures) <= middle * 1.2
    assert backoff.seconds(0) == 0


def test_pauses_differ():
    backoff = Backoff(100, 1_000, random.Random(1))
    assert len({backoff.seconds(3) for _ in range(20)}) > 10
