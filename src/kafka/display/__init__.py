"""What people see: HTML tables in notebooks, and progress bars. Imports nothing of the package.

`markup.py` escapes, `tables.py` makes the tables, `progress.py` the bars, `lag_figure.py` the picture
of lag. What objects show by `_repr_html_` stands in their classes, which import this when they are shown.
"""
