"""The page for Spark's streaming queries: lag, rates and durations over time."""

from kafka.display.page_elements import UNKNOWN, Html, count, html, joined, rate, table, time
from kafka.ui.charts import chart
from kafka.ui.page_frame import live_address, live_page, trouble
from kafka.ui.shared_state import Ui

_COLUMNS = ("query", "last batch", "at", "rows", "in", "processed", "batch took", "lag", "lost")


async def spark_page(ui: Ui) -> Html:
    """Return the page that shows all queries."""
    return live_page(ui, "Spark queries", "/spark", await spark_part(ui), live_address("spark"))


async def spark_part(ui: Ui) -> Html:
    """Return the live part of the page."""
    if ui.spark is None:
        return html(
            "<p>Start <code>kafka ui --spark PATH</code> with the file that "
            "<code>kafka.spark.watch(spark, json_lines=PATH)</code> writes, and its queries are shown here.</p>"
        )
    queries, failed = {}, ""
    try:
        queries = dict(sorted((await ui.read_spark()).items()))
    except OSError as error:
        failed = str(error)
    rows = [
        [
            name,
            count(batches[-1].number),
            time(round(batches[-1].time * 1000)),
            count(batches[-1].rows),
            rate(batches[-1].input_rate, " rows/s"),
            rate(batches[-1].rate, " rows/s"),
            f"{batches[-1].seconds:.2f} s",
            count(batches[-1].lag),
            count(batches[-1].lost) if batches[-1].lost else UNKNOWN,
        ]
        for name, batches in queries.items()
    ]
    unread = (
        f"{ui.spark.unread} lines of {ui.spark.path.name} are not reports of kafka.spark.watch"
        if ui.spark.unread
        else ""
    )
    lags = {
        name: [(each.time, each.lag) for each in batches if each.lag is not None] for name, batches in queries.items()
    }
    rates = {
        name: [(each.time, each.rate) for each in batches if each.rate is not None] for name, batches in queries.items()
    }
    took = {name: [(each.time, each.seconds) for each in batches] for name, batches in queries.items()}
    return joined(
        [
            trouble(failed),
            trouble(unread),
            table(_COLUMNS, rows, _COLUMNS[1:], "Queries"),
            chart("Lag", lags, "records", is_whole=True),
            chart("Rate", rates, "rows/s"),
            chart("Duration of micro-batches", took, "seconds"),
        ]
    )
