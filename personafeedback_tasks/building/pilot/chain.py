"""`build pilot`: every step that writes texts, for a few persons."""

from __future__ import annotations

from ..folder import Folder
from ..models import NOBODY, Models
from ..steps import MEMORY, Say, taken
from ..texts.answers import write_answers
from ..texts.memories import write_memories
from ..texts.personas import write_personas
from ..texts.questions import write_questions


def write_texts(few: Folder, models: Models, say: Say) -> None:
    """Have models write what a few persons lack. Their texts are part of the build: the steps go on from them.

    Args:
        few: the build with a limit on the persons, see `Folder.most`.
        models: the first one writes personas and questions; all of them answer.

    Raises:
        DataError, OptionError, GenerationError: see the steps.
    """
    writer = models.first
    write_personas(few, writer if few.settings.personas else NOBODY, say)
    if MEMORY in taken((MEMORY,), few.root):
        write_memories(few, writer, say)
    write_questions(few, writer, say)
    write_answers(few, models, say)
