"""Clients that exchange records in tests: ours and four that are not, behind one protocol.

Each module has a class with `name`, `produce` and `consume` (see `harness.exchange.Client`), that uses the client as
its own users do.
"""
