"""SASL logins: who may log in (`credentials`), the mechanisms (`exchanges`), and a connection's login (`login`).

There is no authorization: a user who has logged in may do everything.
"""
