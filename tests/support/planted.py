"""Rows whose labels can be told from their meaning: an attribute matters where the prompt is about its topic."""

from __future__ import annotations

from itertools import product

TOPICS = {
    "food": (
        ["Does not eat meat", "Is allergic to peanuts", "Bakes bread on Sundays", "Likes very spicy dishes", "Drinks no alcohol"],
        ["What could I cook tonight?", "Suggest a dessert for a birthday.", "Which snacks should I buy for a picnic?", "Find me a restaurant."],
    ),
    "sport": (
        ["Runs a marathon every year", "Has a knee injury", "Plays in a volleyball team", "Swims before work", "Hates going to the gym"],
        ["Plan my workouts for this week.", "How can I get fitter?", "Which exercise is good for the back?", "Suggest a sport to try."],
    ),
    "music": (
        ["Plays the piano", "Sings in a choir", "Collects jazz records", "Is learning the violin", "Goes to every opera premiere"],
        ["Recommend an album.", "Which concert should I go to?", "Make a playlist for a party.", "What song could I learn next?"],
    ),
    "travel": (
        ["Is afraid of flying", "Owns a camper van", "Prefers to travel by train", "Has never left the country", "Speaks fluent Italian"],
        ["Where should I spend my vacation?", "Plan a weekend trip.", "How do I get to Rome?", "Which hotel should I book?"],
    ),
    "computers": (
        ["Programs in Rust", "Uses Linux on a laptop", "Administers a database", "Builds keyboards", "Is new to programming"],
        ["Why does my script crash?", "Which laptop should I buy?", "Explain what a compiler does.", "How do I back up my files?"],
    ),
}  # fmt: skip
"""Topic -> attributes and prompts."""


def rows(users: int, prompts: int, attributes: int) -> list[dict[str, object]]:
    """
    Args:
        users: how many; neighbors share some of their attributes.
        prompts: how many each user has, of 20.
        attributes: how many each user has, of 25.
    """
    asked = [(topic, texts[number]) for number in range(4) for topic, (_, texts) in TOPICS.items()]
    known = [(topic, texts[number]) for number in range(5) for topic, (texts, _) in TOPICS.items()]
    made = []
    for user, prompt, number in product(range(users), range(prompts), range(attributes)):
        topic, attribute = known[(7 * user + number) % len(known)]
        about, text = asked[(3 * user + prompt) % len(asked)]
        made.append(
            {
                "id": f"r{user}-{prompt}-{number}", "user_id": f"u{user}", "prompt": text, "attribute": attribute,
                "label": topic == about,
            }
        )  # fmt: skip
    return made
