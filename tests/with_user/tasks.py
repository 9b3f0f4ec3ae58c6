"""Small tasks in the shape of inspect_evals, for the tests of `with_user`."""

from inspect_ai import Epochs, SampleSource, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Target, accuracy, choice, exact, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, TaskState, generate, multiple_choice, solver, system_message, use_tools
from inspect_ai.tool import tool


@task
def capitals(count: int = 40, epochs: int = 1) -> Task:
    """Multiple choice; the right letter depends on the number."""
    samples = [
        Sample(input=f"Question {n}: which one?", choices=["one", "two", "three"], target="ABC"[n % 3])
        for n in range(1, count + 1)
    ]
    dataset = MemoryDataset(samples, name="capitals")
    return Task(dataset=dataset, solver=multiple_choice(), scorer=choice(), epochs=epochs)


@task
def sums(count: int = 12) -> Task:
    """Exact match, with a system message of the samples, one in the solver, and three epochs."""
    samples = [
        Sample(
            id=f"sum {n}", input=[ChatMessageSystem(content="Count well."), ChatMessageUser(content=f"{n} + {n}?")],
            target=str(2 * n), metadata={"user_id": "Iris_s04"} if n % 2 else {},
        )
        for n in range(1, count + 1)
    ]  # fmt: skip
    solver = [system_message("Answer with the number."), generate()]
    return Task(dataset=samples, solver=solver, scorer=exact(), epochs=Epochs(3, "mean"))


@tool
def double():
    async def execute(number: int):
        """Double a number.

        Args:
            number: a whole one.
        """
        return str(2 * number)

    return execute


@task
def tools() -> Task:
    samples = [Sample(input=f"Double {n} with the tool.", target=str(2 * n)) for n in range(1, 9)]
    return Task(dataset=samples, solver=[use_tools(double()), generate()], scorer=exact())


@solver
def anew():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages = [ChatMessageUser(content=state.input_text)]
        return await generate(state)

    return solve


@task
def drops() -> Task:
    """Its solver builds the messages anew."""
    return Task(dataset=[Sample(input=f"{n}?", target=str(n)) for n in range(1, 9)], solver=anew(), scorer=exact())


@scorer(metrics={"right": [accuracy(), stderr()], "short": [mean()]})
def two_numbers():
    async def score(state: TaskState, target: Target) -> Score:
        right = state.output.completion == target.text
        return Score(value={"right": "C" if right else "I", "short": 1.0 / len(state.output.completion)})

    return score


@task
def dicts() -> Task:
    return Task(dataset=[Sample(input=f"{n} + {n}?", target=str(2 * n)) for n in range(1, 9)], scorer=two_numbers())


@task
def source() -> Task:
    return Task(dataset=SampleSource.from_samples([Sample(input="1?", target="1")]), scorer=exact())


@task
def other_metric() -> Task:
    return Task(dataset=[Sample(input="1 + 1?", target="2")], scorer=exact(), metrics=[stderr()])


@solver
def placed_solver(where: str):
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        own = ChatMessageSystem(content="You are an agent.")
        if where == "before":
            state.messages.insert(0, own)
        elif where == "behind_two":
            state.messages[:0] = [own, own.model_copy()]
        elif where == "as_text" and len(state.messages) > 1:
            state.messages = [ChatMessageUser(content=f"{state.messages[0].text} {state.messages[1].text}")]
        elif where == "grader":
            await get_model(role="grader", default="subject/0").generate("Question 1: a grader's own prompt")
        return await generate(state)

    return solve


@task
def placed(where: str = "before") -> Task:
    """Its solver adds messages of its own, or asks another model without any."""
    return Task(dataset=[Sample(input="Question 1 + 1?", target="2")], solver=placed_solver(where), scorer=exact())


@task
def empty() -> Task:
    return Task(dataset=[], scorer=exact())


@metric(name="mean")
def in_its_own_way() -> Metric:
    def count(scores: list[SampleScore]) -> float:
        return float(sum(score.score.value == "I" for score in scores)) + 2

    return count


@task
def graded() -> Task:
    """It turns values into numbers in its own way."""
    return Task(dataset=[Sample(input="1 + 1?", target="2")], scorer=exact(), metrics=[in_its_own_way()])
