"""`python -m harness`: fetch the other programs of the integration tests ahead of time."""

from harness.fetch import FetchError, fetch_kafka, fetch_spark_connector
from harness.frameworks import frameworks_folder
from harness.java import JavaError
from harness.peers import peers_folder
from harness.pins import PinsError
from harness.third_parties import third_parties_folder

for fetch in (fetch_kafka, fetch_spark_connector, peers_folder, third_parties_folder, frameworks_folder):
    try:
        fetch()
    except (FetchError, JavaError, PinsError) as error:  # the tests that need it say so again
        print(error)
