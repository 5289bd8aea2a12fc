"""`SimpleClient`, the client of 0.9 to 1.4: payload tuples out and in, one blocking call each.

`client` looks leaders up in the `metadata` that programs read; `apis` makes requests of payloads and payloads of
responses, with the record batches of `messages`; `requests` sends them through the cluster client of `connections`.
"""
