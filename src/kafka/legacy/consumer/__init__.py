"""The consumers of 0.9 and 1.x that stand on a `SimpleClient`.

`base` keeps and commits offsets; `simple` hands out what `fetching` fetches, which waits as `fetch_context` says;
`multiprocess` has `worker` processes do so.
"""
