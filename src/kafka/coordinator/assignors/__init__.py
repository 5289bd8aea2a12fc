"""Assignors: ways to spread partitions over the members of a group. The leader of a group runs one of them."""
