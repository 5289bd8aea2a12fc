"""What has to work with each PySpark, in half a minute; `scripts/spark_versions.py` runs it with the older ones."""
