"""Scripted models for `unchanged.py`, in either harness: what they say depends on the prompt alone.

They know of the package only what a model behind a server would: its prompts. So they run on any version of it.

- `first` says A; `longest` says the letter of the longer response.
- `noisy` mostly prefers the response that people chose. It answers in every form that a model may use, and sometimes not at all.
- `careful` does so less often, so that its runs have a card; `steady` always says a letter, wrong in one of six prompts.
- `guess` says one of four letters, and sometimes none.
- `moody` is `noisy` that changes its mind when it is asked again.
- `writer` answers questions, the name of a stage judges its rows, and `chain...` does the three stages itself.
- `builder...` writes what `personafeedback build` asks for.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    modelapi,
)
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from unchanged_texts import chance, one_of, profile, words

NAME = "unchanged"
"""Of the provider, in both harnesses."""

WORTH: dict[str, float] = {}
"""Response -> 2 if people chose it, 0 if they did not; filled in by `learn`."""

CHOSEN: dict[tuple[str, str], tuple[str, str]] = {}
"""(user, question) -> (chosen, rejected)."""

REPLIES = (
    *["{better}"] * 6, *["{worse}"] * 3, "**{better}**", "Answer: {better}", "I choose {better}.", "回答{better}更好。",
    "Helpfulness.\nWinner: {worse}\nPersonalization.\nWinner: {better}\n\nAnswer: {better}",
    "有用性。\n结论：{worse}\n个性化。\n结论：{better}\n答案：{better}", "Answer: {worse}\nWait, they like it short.\nAnswer: {better}",
    "<think>A or B?</think>\n{better}", "<think>Perhaps {better}", "A", "B", "", "I cannot help with that.", "Both are good.",
    "{better}\n\nThe user is a quiet person who", "Response {better} is better. Now personalization: the user prefers short replies and",
)  # fmt: skip
"""How `noisy` puts its choice."""

PLACES = (
    [{"{better}": 0.6, " {better}": 0.1, "{worse}": 0.2, "Well": 0.05}], [{"{better}": 0.55, "{worse}": 0.4}],
    [{"{worse}": 0.5, "{better}": 0.45}], [{"\n": 0.9}, {"{better}": 0.8, "{worse}": 0.1}], [{"{better}": 0.99}],
    [{"Well": 0.9, "I": 0.05}], [{"A": 0.4, "B": 0.4}],
)  # fmt: skip
"""The likeliest tokens at each place of a reply, with their probabilities, where log-probabilities are asked for."""

SAID = {
    "recenter_extraction": ("ACCEPT", "PROBLEMATIC", "**Problematic**", "ACCEPT", "Hm."),
    "recenter_relevance": ("YES", "NO", "Answer: yes", "NO", "..."),
    "recenter_relevance_select": ("1", "1, 2", "NONE", "2", "[1]", "99"),
    "recenter_response": ("1", "2", "3", "4/5", "Rating: 5", "5", "Both."),
}
"""Task of a stage -> what a model says to it."""


def learn(folder: Path) -> None:
    """Have the judges know which responses people chose in a data set: a folder in the layout of the release.

    What they knew before is forgotten: a response may be chosen in one set and rejected in another.
    """
    WORTH.clear()
    CHOSEN.clear()
    for path in sorted(folder.glob("data/*/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            WORTH.setdefault(row["chosen"].strip(), 2.0)
            WORTH.setdefault(row["reject"].strip(), 0.0)
            CHOSEN.setdefault((row["user_id"], row["question"].strip()), (row["chosen"], row["reject"]))


def compared(prompt: str) -> tuple[str, str]:
    """The two responses of a prompt.

    Raises:
        LookupError: there are none, so that nothing is judged which was never asked.
    """
    found = [re.search(f"<response_{letter}>\n(.*?)\n</response_{letter}>", prompt, re.DOTALL) for letter in "AB"]
    if None in found:
        raise LookupError(f"no two responses in the prompt {prompt[:200]!r}")
    first, second = (match[1].strip() for match in found if match)
    return first, second


def worth(response: str) -> float:
    """Of a response that a model made up, the worth is that of the known one that it begins with, changed by chance."""
    if response in WORTH:
        return WORTH[response]
    known = max((worth for text, worth in WORTH.items() if response[:60] == text[:60]), default=1.0)
    return known + 2 * chance(response) - 1


def letters(prompt: str) -> dict[str, str]:
    """{"better": letter, "worse": letter} by the worth of the responses."""
    first, second = map(worth, compared(prompt))
    return {"better": "A", "worse": "B"} if first >= second else {"better": "B", "worse": "A"}


ASKED: Counter[tuple[str, str]] = Counter()


def reply(model: str, prompt: str) -> str:
    """The reply of a model to a prompt."""
    ASKED[model, prompt] += 1
    if model == "noisy" and "<response_A>" not in prompt:  # which pieces of a user's memory to keep
        return str(one_of(("1, 3", "2", "NONE", "1", "Hm."), prompt))
    if model == "first":
        return "A"
    if model == "guess":
        return str(one_of(("A", "B", "C", "D", "Answer: B", "D.", "Hm."), prompt))
    if model == "longest":
        first, second = compared(prompt)
        return "A" if len(first) >= len(second) else "B"
    if model == "careful" and chance(f"careful {prompt}") > 0.4:
        return letters(prompt)["better" if chance(prompt) > 1 / 4 else "worse"]
    if model in ("noisy", "careful"):
        said = str(one_of(REPLIES, prompt)).format(**letters(prompt))
        return said or "Both are good." if model == "careful" else said  # missing replies have no card
    if model == "moody":
        return str(one_of(REPLIES, f"{ASKED[model, prompt]} {prompt}")).format(**letters(prompt))
    if model.startswith("steady"):  # "steady-2" errs elsewhere
        return letters(prompt)["better" if chance(model.removeprefix("steady") + prompt) > 1 / 6 else "worse"]
    if model in SAID:
        return str(one_of(SAID[model], prompt))
    if model.startswith("writer"):
        return written(model, prompt)
    if model.startswith("chain"):
        return of_stage(model, prompt)
    if model.startswith("builder"):
        return built(model, prompt)
    raise LookupError(f"no scripted model {model!r}")


def written(model: str, prompt: str) -> str:
    """An answer to a question of the benchmark: the chosen response, something made of either, or nothing."""
    asked = prompt.rpartition("<question>")[2].partition("</question>")[0].strip()
    chosen, rejected = next(texts for (_, question), texts in CHOSEN.items() if question == asked)
    return one_of(
        (chosen, f"{chosen} {rejected[:40]}", f"{rejected} Indeed.", chosen[: len(chosen) // 2], "", "I cannot help."),
        model + prompt,
    )


# --- the chain from conversations to replies ------------------------------------------------------------------------------


def of_stage(model: str, prompt: str) -> str:
    """A list of attributes, the numbers of some that are shown, or a reply that may name one."""
    conversation = prompt.partition("<conversation>\n")[2].partition("\n</conversation>")[0]
    if conversation:
        said = [
            said for text in re.findall(r"(?m)^user: (.*)$", conversation) for said in re.split(r"(?<=[.!?]) ", text)
        ]
        noted = [
            {"attribute": " ".join(text.split()[:7]), "reason": "They say so.", "quote": text if chance(text) < 0.4 else text[5:] + "?"}
            for text in said
            if chance(text) < 0.6
        ]  # fmt: skip
        return str(one_of(LISTS, conversation)).format(json.dumps(noted, ensure_ascii=False))
    about = prompt.partition("<about_the_user>\n")[2].partition("\n</about_the_user>")[0]
    if "NONE" in prompt:
        numbers = [line.partition(".")[0] for line in about.splitlines() if chance(model + line + prompt[-300:]) < 0.3]
        return str(one_of(("{}", "{}", "[{}]", "Numbers: {}", "Hm."), prompt)).format(", ".join(numbers) or "NONE")
    reply = f"{words(model + prompt, 20 + int(30 * chance(model + prompt)))}."
    named = f"Since I know this: {about.splitlines()[0]}. " if about and chance(about) < 0.5 else ""
    return str(one_of((named + reply,) * 6 + ("", "I cannot help with that."), prompt))


LISTS = (*["{}"] * 5, "```json\n{}\n```", "Here it is:\n{}", "[]", "Hm.")
"""How a list of attributes is put."""

# --- what a build asks for ------------------------------------------------------------------------------------------------

YES_OR_NO = ("yes",) * 8 + ("no",)
"""Verdicts on a question."""


def built(model: str, prompt: str) -> str:
    if "<response_A>" in prompt:
        return letters(prompt)["better"]
    if "Write the profile of one invented person" in prompt:
        return json.dumps(profile(prompt))
    if "Situation:" in prompt:
        return f"What should anybody do about {words(prompt, 9)}?"
    if "What do they suggest about this user?" in prompt:
        return f"- likes {words(prompt, 5)}\n- avoids {words(prompt, 6)}"
    if "<discreet>" in prompt:
        question = prompt.partition("<question>\n")[2].partition("\n</question>")[0]
        natural, discreet = (one_of(YES_OR_NO, of + prompt) for of in ("natural", "discreet"))
        return f"<natural>{natural}</natural>\n<discreet>{discreet}</discreet>\n<question>{question}</question>"
    if "<fits>" in prompt:
        return f"<reason>So it is.</reason>\n<fits>{one_of(YES_OR_NO, prompt)}</fits>"
    if "open and personal" in prompt:
        return ", ".join(str(number) for number in range(1, 21) if number % 7)
    if "numbered list of posts" in prompt:
        return ", ".join(str(number) for number in range(9, 21))
    if "numbered list" in prompt:
        return "3, 1, 2"
    if "<reasons>" in prompt:
        return f"<reasons>It is better.</reasons>\n<answer>{words(model + prompt, 40)}.</answer>"
    return f"{words(model + prompt, 20 + int(30 * chance(model + prompt)))}."


# --- in the harnesses -----------------------------------------------------------------------------------------------------


@modelapi(name=NAME)
class InInspect(ModelAPI):
    """`--model unchanged/MODEL`; `-M stop_reason=max_tokens` has every reply cut off."""

    def __init__(
        self, model_name: str, base_url: Any = None, api_key: Any = None, config: Any = None, stop_reason: Any = "stop"
    ) -> None:
        super().__init__(model_name)
        self.stop_reason = stop_reason

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
        prompt = "\n".join(message.text for message in input)
        if config.logprobs:
            output = _with_logprobs(self.model_name, prompt)
        else:
            output = ModelOutput.from_content(self.model_name, reply(self.model_name, prompt), self.stop_reason)
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output


def _with_logprobs(model: str, prompt: str) -> ModelOutput:
    names = letters(prompt)
    if model != "noisy":
        said = reply(model, prompt)
        names = {"better": said, "worse": "AB"[said == "A"]}
    content = []
    for place in one_of(PLACES, prompt) if model == "noisy" else PLACES[:1][0]:
        top = [TopLogprob(token=token.format(**names), logprob=math.log(share)) for token, share in place.items()]
        content.append(Logprob(token=top[0].token, logprob=top[0].logprob, top_logprobs=top))
    message = ChatMessageAssistant(content="".join(token.token for token in content), model=model)
    return ModelOutput(
        model=model,
        choices=[ChatCompletionChoice(message=message, stop_reason="stop", logprobs=Logprobs(content=content))],
    )


@register_model(NAME)
class InLmEval(LM):
    """`--model unchanged --model_args pretrained=unchanged/MODEL`."""

    def __init__(self, pretrained: str, **_: Any) -> None:
        super().__init__()
        self.model = pretrained.rpartition("/")[2]

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        return [reply(self.model, request.args[0]) for request in requests]

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """More for the letter that the model would say; of `noisy`, one prompt in eleven has no preference."""
        found = []
        for request in requests:
            prompt, letter = request.args[0], request.args[1].strip()
            names = letters(prompt)
            noisy = self.model in ("noisy", "careful")
            said = names["better" if chance(prompt) > 1 / 3 else "worse"] if noisy else reply(self.model, prompt)
            even = noisy and int(1e6 * chance(prompt)) % 11 == 0
            found.append((-0.5 if even or letter == said else -1.5 - chance(prompt[-2000:]), False))
        return found

    def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError("no task asks for this")


def reward_model(folder: Path, texts: list[str]) -> None:
    """A reward model with two outputs, written to a folder: both count tokens, one per character, and the second one less exactly."""
    import torch
    import transformers
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    special = ["<pad>", "<unk>", "</s>"]
    characters = sorted(set("".join(texts)) | set("<>/systemuraian"))
    made = Tokenizer(
        models.WordLevel({token: place for place, token in enumerate([*special, *characters])}, unk_token="<unk>")
    )
    made.add_special_tokens(special)
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="</s>", unk_token="<unk>", pad_token="<pad>"
    )
    tokenizer.chat_template = "{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] + '</s>' }}{% endfor %}"
    limit = 16384
    model = transformers.OPTForSequenceClassification(
        transformers.OPTConfig(
            vocab_size=len(tokenizer), max_position_embeddings=limit, hidden_size=2, word_embed_proj_dim=2, num_hidden_layers=0,
            num_attention_heads=1, num_labels=2, _remove_final_layer_norm=True, pad_token_id=0, bos_token_id=2, eos_token_id=2,
        )
    )  # fmt: skip
    places = model.model.decoder.embed_positions
    with torch.no_grad():
        model.model.decoder.embed_tokens.weight.zero_()
        model.score.weight[:] = torch.eye(2)
        counts = torch.arange(1, limit + 1, dtype=torch.float32)
        places.weight[places.offset :] = torch.stack([counts, torch.floor(counts / 60)], dim=1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
