"""Features that only old generations of kafka-python had, as thin layers over the current package.

Programs access them through the old import paths (`kafka.common`, `kafka.client`, `kafka.producer.simple`, ...), which
`addresses` lists. No module of the current clients imports from here or from an old path, as
`tests/unit/test_layers.py` checks. Modules here may import everything up to the clients.
"""
