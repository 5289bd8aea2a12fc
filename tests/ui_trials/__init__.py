"""Trials of the web UI that take too long for each run: every page in a browser, and on a cluster with broken parts."""
