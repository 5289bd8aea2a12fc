"""`SimpleClient`, the client of 0.9 to 1.4: payload tuples in and out, one blocking call each.

`simple_client` looks leaders up in the `metadata` that programs read. `apis` makes requests from payloads, and payloads
from responses, with the record batches of `messages`. `payload_requests` sends them through the cluster client of
`connections`.
"""
