"""Who may use the UI: logins, sessions, roles, and the audit log.

`gate.py` finds the user of each request and turns others away; `user.py` makes the user available to all pages. There
are three kinds of login: one token (`one_token.py`), a file of users (`users_file.py` and `password_hashes.py`), and
OpenID Connect (`oidc.py`). `sessions.py` signs the cookies, `login_brake.py` slows down guessing, `login_page.py` shows
the form, and `audit_log.py` records what users change. `settings.py` describes all of this for the command line.

Without a login, everyone who reaches the UI is the user `ANYONE`; the command line allows this on loopback addresses
only.
"""
