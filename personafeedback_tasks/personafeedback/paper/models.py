"""The models of the paper (Tables 3, 6, 7 and 8), and the commands that run them here.

Hub ids are those of Table 8 where it has one. How a reward model loads is from its model card, its code and RewardBench's; we loaded
none of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from .tables import document, same_model, table

_FILE = document("models")
RETIRED_AS_OF = str(_FILE["retired_as_of"])
"""When we looked at the providers' lists."""
SETTINGS = "persona,rag,no_persona"
"""The columns of Table 7, in one run."""
ROOM_TO_REASON = 16_384
"""New tokens for a model that reasons before it answers."""
ROOM_FOR_PROMPT = 8_192
"""Tokens of the context that vLLM is given beside it: the longest prompts have a few thousand."""

TEMPERATURE, TOP_P = "0.6", "0.95"
"""As the cards of QwQ and of the distilled R1 advise."""

TRAINED = "reward training"
"""The group of a model of Table 6 alone."""


@dataclass(frozen=True)
class Model:
    """One model of the paper.

    Attributes:
        name: in Table 3, or else in Table 6.
        group: its block of Table 3, or TRAINED.
        runs: how, a key of `commands` in tables/models.json: `api`, at a provider; `open`, from the Hub in either harness; `reward`, as a plain
            classifier; `patched reward`, as one whose own code needs an edit first; `export`, only in RewardBench.
        id: on the Hub; of a model at a provider, as Inspect takes it.
        reasons: whether it reasons at length before it answers.
        samples: whether its authors advise sampling, see TEMPERATURE and TOP_P.
        aspects: names of a reward model's outputs in their order, where it has several.
        note: what to know before running it.
    """

    name: str
    group: str
    runs: str
    id: str
    reasons: bool = False
    samples: bool = False
    aspects: str = ""
    note: str = ""

    @property
    def in_table_7(self) -> bool:
        """Whether the paper asked it under other settings, too."""
        return any(same_model(row.name, self.name) for row in table("7").rows)

    def commands(self, settings: str = "") -> list[str]:
        """The command lines that run it, one a line. An open model has one for each harness and backend.

        Args:
            settings: as `setting` has them; of a reward model none.
        """
        decoding = [f"max_gen_toks={ROOM_TO_REASON}"] if self.reasons else []
        decoding += [f"do_sample=True,temperature={TEMPERATURE},top_p={TOP_P}"] if self.samples else []
        parts = {
            "setting": f" -T setting={settings}" if settings else "",
            "metadata": f""" --metadata '{{"setting": "{settings}"}}'""" if settings else "",
            "gen_kwargs": f" --gen_kwargs {','.join(decoding)}" if decoding else "",
            "greedy": "" if self.samples else " -M do_sample=false",
            "room": f" --max-tokens {ROOM_TO_REASON}" if self.reasons else "",
            "sampling": f" --temperature {TEMPERATURE} --top-p {TOP_P}" if self.samples else "",
            "context": ROOM_FOR_PROMPT + ROOM_TO_REASON * self.reasons,
            "folder": self.id.partition("/")[2],
        }
        return [line.format(id=self.id, aspects=self.aspects, **parts) for line in _FILE["commands"][self.runs]]

    @property
    def trainings(self) -> dict[str, list[str]]:
        """Row of Table 6 -> the command lines that make its pairs, train it and score it; empty for a model that the paper did not train.

        `ours` is a build folder with training persons.
        """
        if self.group != TRAINED:
            return {}
        found = {}
        for name, pairs, batch in TRAININGS:
            folder = f"{self.name}-{pairs.split()[-1]}"
            found[name] = [
                f"personafeedback build training ours {pairs} --tokenizer {self.id}",
                " ".join(trl_lines(self.id, "ours/training", folder, ROOM_TO_TRAIN, batch)),
                f'inspect eval personafeedback_tasks/personafeedback --model "personafeedback-reward/$PWD/{folder}" -T method=reward --log-dir logs',
            ]
        return found

    def as_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "commands": self.commands(),
            "commands_table_7": self.commands(SETTINGS) if self.in_table_7 else [],
            "trainings": self.trainings,
        }


class Training(NamedTuple):
    """One trained reward model of Table 6 (Appendix E).

    Attributes:
        name: of the row, in the paper's words.
        pairs: what makes its pairs, as an option of `build training`.
        batch: pairs to a step.
    """

    name: str
    pairs: str
    batch: int


ROOM_TO_TRAIN = 4_096
"""Tokens of a pair to train on."""

ALONE, MIXED = 32, 64
"""Pairs to a step: with HelpSteer2 alone, and with both sources."""

TRAININGS = (
    Training("HelpSteer2 Trained", "--only helpsteer2", ALONE),
    Training("HelpSteer2 Personalized Trained", "--mixture paper", MIXED),
)


def trl_lines(model: str, data: str, out: str, max_length: int, batch: int) -> list[str]:
    """The command that trains a reward model with the figures of Appendix E, in three parts.

    Args:
        model: a folder or a Hub id.
        data: the folder with train.jsonl.
        out: the folder of the trained model.
        max_length: tokens beyond which TRL drops a pair.
        batch: pairs to a step.
    """
    return [
        f"trl reward --model_name_or_path {model} --dataset_name {data} --output_dir {out}",
        f"--max_length {max_length} --learning_rate 1e-5 --num_train_epochs 1 --per_device_train_batch_size 4",
        f"--gradient_accumulation_steps {batch // 4} --eval_strategy no --report_to none",
    ]


MODELS = tuple(
    Model(**{**row, "note": _FILE["notes"].get(row.get("note"), row.get("note", ""))}) for row in _FILE["models"]
)
"""Every model of Tables 3, 6 and 8, once, in the order of Table 3; those of Table 6 alone follow its open models."""
