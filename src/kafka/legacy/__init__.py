"""What only old generations of kafka-python had, as thin views of the present package.

Programs reach it by the old import paths (`kafka.common`, `kafka.client`, `kafka.producer.simple`, ...), which hold
nothing but imports. No module of the present clients imports from here: `tests/unit/test_layers.py` lists the old paths
and checks both. May import everything up to the clients.
"""
