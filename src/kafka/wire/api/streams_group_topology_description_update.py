"""The API StreamsGroupTopologyDescriptionUpdate (key 93, version 0): report the topology of a streams group."""

from __future__ import annotations

from kafka.wire.fields import array, int8, int16, int32, string, struct
from kafka.wire.message import Request, Response
from kafka.wire.structs import Struct


class TopologyDescriptionNode(Struct):
    """An element of `TopologyDescriptionSubtopology.nodes`, or a field of `TopologyDescriptionGlobalStore`."""

    name: str = string()
    node_type: int = int8()
    source_topics: list[str] = array(string)
    sink_topic: str | None = string(nullable=True, default=None)
    stores: list[str] = array(string)
    successors: list[str] = array(string)


class TopologyDescriptionSubtopology(Struct):
    """An element of `TopologyDescription.subtopologies`."""

    subtopology_id: str = string()
    nodes: list[TopologyDescriptionNode] = array(TopologyDescriptionNode)


class TopologyDescriptionGlobalStore(Struct):
    """An element of `TopologyDescription.global_stores`."""

    source: TopologyDescriptionNode = struct(TopologyDescriptionNode)
    processor: TopologyDescriptionNode = struct(TopologyDescriptionNode)


class TopologyDescription(Struct):
    """The type of `StreamsGroupTopologyDescriptionUpdateRequest.topology_description`."""

    subtopologies: list[TopologyDescriptionSubtopology] = array(TopologyDescriptionSubtopology)
    global_stores: list[TopologyDescriptionGlobalStore] = array(TopologyDescriptionGlobalStore)


class StreamsGroupTopologyDescriptionUpdateRequest(
    Request["StreamsGroupTopologyDescriptionUpdateResponse"], api_key=93, versions=(0, 0), flexible_since=0
):
    """Report the topology of a streams group."""

    group_id: str = string()
    member_id: str = string()
    topology_epoch: int = int32()
    topology_description: TopologyDescription = struct(TopologyDescription)


class StreamsGroupTopologyDescriptionUpdateResponse(Response, request=StreamsGroupTopologyDescriptionUpdateRequest):
    """The response to `StreamsGroupTopologyDescriptionUpdateRequest`."""

    throttle_time_ms: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable=True, default=None)
