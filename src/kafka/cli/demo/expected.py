"""The same computation in plain pandas."""

import pandas as pd

from kafka.cli.demo.flight_tables import Flights


def expected_delays(data: Flights) -> pd.DataFrame:
    """Delays by origin and hour, in the columns and the order of `kafka.cli.demo.check.COLUMNS`."""
    flights = data.flights.merge(data.airlines.rename(columns={"name": "airline"}), on="carrier", how="left")
    names = data.airports.set_index("faa")["name"]
    flights["destination"] = flights["dest"].map(names).fillna(flights["dest"])
    flights["airport"] = flights["origin"].map(names)
    flights["hour"] = flights["departure"].dt.floor("h")
    groups = flights.groupby(["hour", "origin", "airport"], sort=True)
    table = groups.agg(flights=("flight", "size"), dep_delay=("dep_delay", "mean"), arr_delay=("arr_delay", "mean"))
    table["cancelled"] = (
        flights["dep_delay"].isna().groupby([flights["hour"], flights["origin"], flights["airport"]]).sum()
    )
    flown = flights.dropna(subset=["dep_delay"]).sort_values(["dep_delay", "airline", "destination"])
    worst = flown.groupby(["hour", "origin", "airport"])[["dep_delay", "airline", "destination"]].last()
    return table.join(worst.add_prefix("worst_")).reset_index()
