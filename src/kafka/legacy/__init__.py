"""What only old generations of kafka-python had, as thin views of the present package.

Programs reach it by the old import paths (`kafka.common`, `kafka.client`, `kafka.producer.simple`, ...), which
`addresses` lists. No module of the present clients imports from here or from an old path; `tests/unit/test_layers.py`
checks that. May import everything up to the clients.
"""
