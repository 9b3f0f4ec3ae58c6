"""The texts that a system message about a user begins with, and texts about nobody; which of them a message is."""

from __future__ import annotations

OPENING = {
    "en": "This is the user you are talking to.",
    "zh": "这是正在与你对话的用户。",
}
"""It asks for nothing: whether a profile changes an answer is what is measured."""

NEUTRAL = {
    "en": (
        "Water moves between the sea, the air and the land. The sun warms the surface of the sea, and a part of the "
        "water rises as vapor. In the cold air above, the vapor turns into small drops, which form clouds. Wind "
        "carries the clouds over the land, where rain and snow fall. Some of that water runs into rivers, some sinks "
        "into the ground, and some stays in glaciers for a long time. Rivers bring it back to the sea. The amount of "
        "water on the planet changes very little in this way. Rocks take part in a slower movement. Rain and frost "
        "break them into gravel and sand, which rivers carry to the coast. Layers of sand are pressed together until "
        "they are stone again. Deep below, heat melts stone, and volcanoes bring it back to the surface. "
    ),
    "zh": (
        "水在海洋、空气和陆地之间循环。阳光使海面变暖，一部分水变成水汽上升。在高处的冷空气中，水汽凝结成小水滴，形成云。风把云带到陆地上空，"
        "随后降下雨和雪。其中一些水流入河流，一些渗入地下，还有一些长期留在冰川里。河流又把水带回海洋。地球上的水量因此变化很小。岩石也参与循环，"
        "只是更慢。雨水和霜冻把岩石碎成砾石和沙子，河流把它们带到海岸。一层层的沙子被压在一起，重新成为石头。在地下深处，高温使石头熔化，火山又把它带回地面。"
    ),
}
"""Sentences that concern nobody."""


def setting_of(instruction: str) -> str:
    """What a text of `personafeedback persona` is about: `persona`, whoever it is, or `padding`; else empty."""
    if instruction.startswith(tuple(OPENING.values())):
        return "persona"
    # both begin alike, whichever is the longer one
    return "padding" if any(text.startswith(instruction[: len(text)]) for text in NEUTRAL.values()) else ""
