"""`python -m harness`: fetch what the integration tests run beside this package, before they ask for it."""

from harness.fetch import FetchError, fetch_kafka, fetch_spark_connector
from harness.java import JavaError
from harness.peers import PeersError, peers_folder

for fetch in (fetch_kafka, fetch_spark_connector, peers_folder):
    try:
        fetch()
    except (FetchError, JavaError, PeersError) as error:  # the tests that need it say so again
        print(error)
