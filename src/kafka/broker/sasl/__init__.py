"""SASL logins: users and passwords (`credentials`), mechanisms (`exchanges`), and the login state (`login`).

There is no authorization: every authenticated user may do everything.
"""
