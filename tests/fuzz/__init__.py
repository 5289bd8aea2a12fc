"""The fuzzer: mutated batches and messages, which the compiled and the plain variant have to treat alike.

`python -m fuzz` (from `tests/`) drives two workers, one of each variant. A number seeds each input and all options, so
that a number is all it takes to see a failure again. Layers: `inputs` makes bytes, `targets` says what is done with
them and puts what comes out into words, `worker` runs inputs by number, `driver` compares two workers.
"""
