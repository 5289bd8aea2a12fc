"""What must work with each PySpark. `scripts/spark_versions.py` runs `test_quick`, with all of them."""
