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


class NoJitter(random.Random):
    """The middle of each range, which it notes."""

    ranges: list[tuple[float, float]]

    def uniform(self, low, high):
        self.ranges = [*getattr(self, "ranges", []), (low, high)]
        return (low + high) / 2


def test_pauses_are_exact_except_for_jitter():
    rng = NoJitter()
    backoff = Backoff(30_000, 100_000, rng)
    assert [backoff.seconds(failures) for failures in range(5)] == [0.0, 30.0, 60.0, 100.0, 100.0]
    assert set(rng.ranges) == {(0.8, 1.2)}


def test_a_limit_below_the_first_pause_is_that_pause():
    assert [Backoff(30_000, 1_000, NoJitter()).seconds(failures) for failures in (1, 2, 9)] == [30.0] * 3


def test_a_backoff_of_0_pauses_for_a_millisecond():
    assert [Backoff(0, 0, NoJitter()).seconds(failures) for failures in (0, 1, 9)] == [0.0, 0.001, 0.001]
    assert [Backoff(0, 4, NoJitter()).seconds(failures) for failures in range(5)] == [0.0, 0.001, 0.002, 0.004, 0.004]
