"""A member's credentials: its id, and the generation of the group that it belongs to."""

from typing import NamedTuple


class Generation(NamedTuple):
    """What group requests carry to show that their sender still belongs to the group.

    Arguments:
        generation_id: number of the group's generation; -1 without one.
        member_id: the id that the coordinator gave; "" before it gave one.
        protocol: name of the assignor that the group agreed on, or None.
    """

    generation_id: int = -1
    member_id: str = ""
    protocol: str | None = None

    @property
    def is_valid(self) -> bool:
        """Whether this is a membership at all."""
        return self.generation_id >= 0


NO_GENERATION = Generation()
