"""The floor for Inspect: a model that answers at once, and a bare task that makes two calls per sample.

Run as a program, it is Inspect's own command with this model registered.
"""

from __future__ import annotations

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.scorer import Score, accuracy, scorer, stderr
from inspect_ai.solver import solver
from inspect_ai.util import collect


@modelapi(name="instant")
class Instant(ModelAPI):
    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **model_args):  # noqa: B008
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(self, input, tools, tool_choice, config):
        output = ModelOutput.from_content("instant", "A")
        output.usage = ModelUsage()
        return output


@task
def bare(requests: str) -> Task:
    rows = json.loads(Path(requests).read_text(encoding="utf-8"))
    prompts = {row[0]: row[2:] for row in rows}

    @solver
    def ask_twice():
        async def solve(state, generate):
            model = get_model()
            outputs = await collect(*(model.generate([ChatMessageUser(content=p)]) for p in prompts[state.sample_id]))
            state.output = outputs[0]
            return state

        return solve

    @scorer(metrics=[accuracy(), stderr()])
    def letter():
        async def score(state, target):
            return Score(value=float(state.output.completion == target.text))

        return score

    samples = [Sample(id=row[0], input=row[1], target="A") for row in rows]
    return Task(
        dataset=MemoryDataset(samples),
        solver=ask_twice(),
        scorer=letter(),
        config=GenerateConfig(max_tokens=1024, temperature=0.0),
    )


if __name__ == "__main__":
    from inspect_ai._cli.main import main

    main()
