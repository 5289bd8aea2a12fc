"""The fuzzer: mutated batches, messages, Avro and JSON values, which the compiled and the plain variant have to treat
alike, and batches as the reference, a second decoder, does.

`python -m fuzz` (from `tests/`) drives two workers, one of each variant. A number seeds each input and all options, so
that a number is all it takes to see a failure again. Layers: `inputs` changes bytes anywhere, `boundaries` writes logs
in which one number is at its limit; `targets` says what is done with them, asks the `reference`, and puts what comes
out into words, `avro` and `json_values` likewise for values of random schemas; `worker` runs inputs by number, `driver`
compares two workers.
"""

DISAGREEMENT = "disagreement"
"""What a worker says in the place of the target where the reference finds something else."""


class Disagreement(Exception):
    """The package and the reference find different things, or the package does, asked in two ways."""
