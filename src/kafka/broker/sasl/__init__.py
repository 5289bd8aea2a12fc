"""Logging in by SASL: who may (`credentials`), what a connection has said so far (`login`), a module per mechanism.

There is no authorization: whoever has logged in may do everything.
"""
