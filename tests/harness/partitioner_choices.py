"""What the partitioners of a release of kafka-python choose, as JSON; runs under Python 2.7 and all later ones.

``tests/data/partitioners.json`` has what it says under the originals, a line each:

    PYTHONPATH=FOLDER-OF-THE-RELEASE python2.7 tests/harness/partitioner_choices.py 1.0.2

FOLDER is made by ``python2.7 -m pip install --target FOLDER kafka-python==1.0.2 six``; the releases and their
interpreters are 0.9.5, 1.0.2 and 1.4.7 with Python 2.7, 2.0.2 with 3.8, 2.3.3 and 3.0.12 with 3.11.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# Python 2.7 knows no annotations.
import hashlib
import json
import random
import sys

COUNTS = [1, 2, 3, 7, 97, 1000]


def keys():
    """Two thousand keys, the same in every Python."""
    state, made = 2026, []
    for _ in range(2000):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        size, key = (state >> 11) % 40, bytearray()
        for _ in range(size):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            key.append((state >> 11) % 256)
        made.append(bytes(key))
    return made


class Cluster:
    """A topic with some partitions, of which some have a leader."""

    def __init__(self, count, available=None):
        self.everything = set(range(count))
        self.available = self.everything if available is None else set(available)

    def topics(self):
        return {"t"}

    def partitions_for_topic(self, topic):
        return self.everything

    def available_partitions_for_topic(self, topic):
        return self.available


def bytes_of(key):
    """A key as Python 2.7 hashes it by its bytes: its ``str`` would be taken for text, and encoded."""
    return bytearray(key) if sys.version_info < (3,) else key


def pick(partitioner, key, cluster):
    """As the release's producer asks: with the record (3.0), or with lists of partitions."""
    if hasattr(partitioner, "partition"):
        return partitioner.partition("t", key, key, None, None, cluster)
    return partitioner(key, sorted(cluster.everything), sorted(cluster.available))


def digest(picked):
    return hashlib.sha256(",".join(map(str, picked)).encode()).hexdigest()[:32]


def by_key(choose):
    """The digests of what is chosen for all keys, by the number of partitions."""
    return {str(count): digest([choose(key, count) for key in keys()]) for count in COUNTS}


def turns(partitioner):
    """What round robin chooses among the same partitions, and where they change."""
    same = [partitioner.partition(b"k", [0, 1, 2]) for _ in range(8)]
    changing = [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3], [3, 1], [3, 1], [3, 1], [5, 6, 7], [5, 6, 7], [0, 1, 2]]
    return {"same": same, "changing": [partitioner.partition(b"k", each) for each in changing]}


def spread(partitioner):
    """What is chosen without a key, of all and of some partitions, by the random numbers of one seed."""
    random.seed(2026)
    some = [Cluster(7), Cluster(7, [1, 4, 6]), Cluster(3, [])]
    return [pick(partitioner, None, some[n % 3]) for n in range(60)]


def stays(partitioner):
    """Where it stays without a key, batches being begun and leaders lost."""
    random.seed(2026)
    cluster, chosen = Cluster(5), []
    for n in range(60):
        chosen.append(partitioner.partition("t", None, None, None, None, cluster))
        if n % 7 == 6:
            partitioner.on_new_batch("t", cluster, chosen[-1])
        if n % 20 == 19:
            cluster = Cluster(5, cluster.everything - {chosen[-1]})
    return chosen


def choices(release):
    """All that a release has to say."""
    import kafka.partitioner as of

    found = {}
    if hasattr(of, "Murmur2Partitioner"):
        murmur2, legacy = of.Murmur2Partitioner([0]), of.LegacyPartitioner([0])
        found["Murmur2Partitioner"] = by_key(lambda key, count: murmur2.partition(bytes_of(key), list(range(count))))
        found["LegacyPartitioner"] = by_key(lambda key, count: legacy.partition(key, list(range(count))))
    if hasattr(of, "RoundRobinPartitioner"):
        found["RoundRobinPartitioner"] = turns(of.RoundRobinPartitioner([0, 1, 2]))
    if release >= (1, 0):
        from kafka.partitioner.default import DefaultPartitioner

        made = DefaultPartitioner()
        found["DefaultPartitioner"] = by_key(lambda key, count: pick(made, bytes_of(key), Cluster(count)))
        if release >= (2, 3):  # run by the Python of today's tests, with the same random numbers
            found["without a key"] = spread(made)
    if hasattr(of, "StickyPartitioner"):
        found["StickyPartitioner"] = stays(of.StickyPartitioner())
    return found


if __name__ == "__main__":
    release = sys.argv[1]
    said = choices(tuple(map(int, release.split("."))))
    sys.stdout.write(json.dumps({"release": release, "choices": said}, sort_keys=True) + "\n")
