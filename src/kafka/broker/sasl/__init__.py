"""SASL logins: who may log in (`credentials`), the mechanisms (`exchanges`), and a connection's login (`login`).

There is no authorization: whoever has logged in may do everything.
"""
