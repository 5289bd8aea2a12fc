"""The methods of `AsyncKafkaAdminClient`, a module for each subject. Each checks and copies its arguments, and awaits
an operation. `scripts/twins.py` writes the modules of `kafka.admin.calls` from these.
"""
