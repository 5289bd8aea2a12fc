"""Arrow tables as records: their rows encoded into batches, and one future for all of them."""
