"""The fuzzer: mutated batches and messages, which the compiled and the plain variant have to treat alike, and as the
reference, a second decoder, does.

`python -m fuzz` (from `tests/`) drives two workers, one of each variant. A number seeds each input and all options, so
that a number is all it takes to see a failure again. Layers: `inputs` changes bytes anywhere, `boundaries` writes logs
in which one number is at its limit; `targets` says what is done with them, asks the `reference`, and puts what comes
out into words; `worker` runs inputs by number, `driver` compares two workers.
"""

DISAGREEMENT = "disagreement"
"""What a worker says in the place of the target where the reference finds something else."""
