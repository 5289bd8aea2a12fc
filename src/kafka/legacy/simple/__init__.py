"""`SimpleClient`, the client of 0.9 to 1.4: accepts and returns payload tuples, with one blocking call per request.

`simple_client` finds leaders in `client_metadata`, which programs can read. `apis` converts payloads to requests, and
responses to payloads. `payload_requests` sends the requests with the cluster client from `connections`.
"""
