"""SASL logins: users and passwords (`credentials`), mechanisms (`exchanges`), and the state of a login (`login`).

There is no authorization: every authenticated user may do everything.
"""
