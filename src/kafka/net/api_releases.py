"""The release of Apache Kafka that introduced an API, or a version of one, for error messages about older brokers.

Add a line here for each new API, and for each version that a call requires (its `min_version`).
"""

_APIS = {
    **dict.fromkeys(range(4), "0.8"),
    8: "0.8.1",
    9: "0.8.1",
    10: "0.8.2",
    **dict.fromkeys(range(11, 17), "0.9"),
    17: "0.10",
    18: "0.10",
    19: "0.10.1",
    20: "0.10.1",
    **dict.fromkeys(range(21, 34), "0.11"),
    **dict.fromkeys(range(34, 38), "1.0"),
    **dict.fromkeys(range(38, 43), "1.1"),
    43: "2.2",
    44: "2.3",
    **dict.fromkeys(range(45, 48), "2.4"),
    48: "2.6",
    49: "2.6",
    50: "2.7",
    51: "2.7",
    55: "3.3 with KRaft",
    57: "2.7",
    60: "2.8",
    61: "2.8",
    64: "2.8 with KRaft",
    65: "3.0",
    66: "3.0",
    68: "4.0",
    69: "4.0",
    71: "3.7 with KRaft",
    72: "3.7 with KRaft",
    74: "3.7 with KRaft",
    75: "3.8 with KRaft",
    **dict.fromkeys(range(76, 80), "4.1"),
    80: "3.9 with KRaft",
    81: "3.9 with KRaft",
    **dict.fromkeys(range(88, 93), "4.1"),
}
"""API keys, and the first release whose brokers serve them to clients."""
_VERSIONS = {
    (2, 1): "0.10.1",
    (2, 2): "0.11",
    (2, 7): "3.0",
    (3, 1): "0.10",
    (3, 10): "2.8",
    (3, 12): "3.1",
    (9, 2): "0.10.2",
    (9, 7): "2.5",
    (10, 1): "0.11",
    (13, 3): "2.4",
    (16, 4): "2.6",
    (16, 5): "3.8",
    (18, 3): "2.4",
    (19, 1): "0.10.2",
    (19, 4): "2.4",
    (20, 6): "2.8",
    (22, 3): "2.5",
    (28, 3): "2.5",
    (29, 1): "2.0",
    (29, 3): "3.3",
    (30, 1): "2.0",
    (30, 3): "3.3",
    (31, 1): "2.0",
    (31, 3): "3.3",
    (32, 1): "1.1",
    (32, 3): "2.6",
    (38, 3): "3.3",
    (43, 1): "2.4",
    (57, 1): "3.3",
    (60, 2): "4.0",
    (66, 1): "3.8",
    (66, 2): "4.1",
    (74, 1): "4.1",
}
"""API keys and versions that calls require, and the first release that supports them."""


def release_with(api_key: int, version: int = 0) -> str | None:
    """Return the first release whose brokers support a version of an API; None if it is not known here.

    Arguments:
        version: 0 for any version of the API.
    """
    return _VERSIONS.get((api_key, version)) if version else _APIS.get(api_key)
