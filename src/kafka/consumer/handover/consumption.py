"""What was fetched and handed out of a topic and of a partition."""

import math

from kafka.metrics.windows import SampledValues, Window, WindowOptions, Windows


class Consumed(Window):
    """What was handed out of a topic."""

    __slots__ = ("largest_lag", "nbytes", "records")

    def __init__(self, begin: float) -> None:
        super().__init__(begin)
        self.records = self.nbytes = 0
        self.largest_lag = -math.inf


class TopicConsumption:
    """Of one topic.

    Attributes:
        sizes: its bytes in each answer that has it; counted on the loop.
        consumed: what was handed out; counted in the caller's thread.
    """

    __slots__ = ("consumed", "sizes")

    def __init__(self, window: WindowOptions) -> None:
        self.sizes = SampledValues(window)
        self.consumed = Windows(Consumed, window)


class PartitionConsumption(SampledValues):
    """Of one partition: how many records it was behind, each time that some were handed out, in the caller's thread.

    Attributes:
        topic: that of its topic.
    """

    __slots__ = ("topic",)

    def __init__(self, window: WindowOptions, topic: TopicConsumption) -> None:
        super().__init__(window)
        self.topic = topic
