"""Sends Arrow tables as records: rows are encoded into batches, with one future for all of them."""
