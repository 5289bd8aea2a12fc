"""A member's credentials: its id, and the generation of the group that it belongs to."""

from typing import NamedTuple


class Generation(NamedTuple):
    """What group requests carry to show that their sender still belongs to the group.

    Arguments:
        generation_id: number of the group's generation, or the epoch of the member (KIP-848); -1 without one.
        member_id: the id that the coordinator gave; "" before it gave one.
        protocol: name of the assignor that the group agreed on, or None.
        membership: of the protocol of KIP-848, where the epoch changes within a membership: counts the memberships of
            this consumer. 0 in other protocols.
    """

    generation_id: int = -1
    member_id: str = ""
    protocol: str | None = None
    membership: int = 0

    @property
    def is_valid(self) -> bool:
        """Whether this is a membership at all."""
        return self.generation_id >= 0


NO_GENERATION = Generation()
