"""The environment variables without which a model's provider cannot be asked: their names, never their values."""

from __future__ import annotations

from collections.abc import Mapping

from ..runs.model_arguments import ADDRESS
from ..runs.run import Run

INSPECT: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "azureai": ("AZUREAI_API_KEY", "AZUREAI_BASE_URL"),
    "bedrock": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"),
    "cloudflare": ("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_KEY"),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "google": ("GOOGLE_API_KEY",),
    "grok": ("XAI_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "hf-inference-providers": ("HF_TOKEN",),
    "litellm-proxy": ("LITELLM_PROXY_API_KEY", "LITELLM_PROXY_BASE_URL"),
    "meta": ("META_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openai/azure": ("AZUREAI_OPENAI_API_KEY", "AZUREAI_OPENAI_BASE_URL"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "perplexity": ("PERPLEXITY_API_KEY",),
    "sambanova": ("SAMBANOVA_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
}
"""Of Inspect, by the first part of a model's name, or the first two: what its providers ask for. Local ones ask for nothing."""

BY_SERVICE = ("openai-api", "openai-api-completions")
"""Providers whose model's name has a service in its second part, after which the variables are called."""

LM_EVAL: Mapping[str, tuple[str, ...]] = {
    "anthropic-chat": ("ANTHROPIC_API_KEY",),
    "anthropic-chat-completions": ("ANTHROPIC_API_KEY",),
    "anthropic-completions": ("ANTHROPIC_API_KEY",),
    "azure-openai-chat-completions": ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
    "openai-chat-completions": ("OPENAI_API_KEY",),
    "openai-completions": ("OPENAI_API_KEY",),
    "textsynth": ("TEXTSYNTH_API_SECRET_KEY",),
    "watsonx_llm": ("WATSONX_API_KEY", "WATSONX_URL", "WATSONX_PROJECT_ID"),
}
"""Of lm-eval, by the kind of model."""

OF_ANY_SERVER = ("local-chat-completions", "local-completions")
"""Kinds of model of lm-eval that ask any server, a public one with OpenAI's variable."""


def provider_variables(run: Run) -> tuple[str, ...]:
    """The names of those of a run's provider; empty where it needs none, or is unknown here."""
    address = run.needed.get("base_url")
    if run.harness.startswith("lm-eval"):
        kind, _ = run.loaded
        is_public = kind in OF_ANY_SERVER and address not in (None, ADDRESS)
        return ("OPENAI_API_KEY",) if is_public else LM_EVAL.get(kind, ())
    provider, *rest = run.model.split("/")
    if provider in BY_SERVICE and rest:
        service = rest[0].upper().replace("-", "_")
        return (f"{service}_API_KEY", *([] if address else [f"{service}_BASE_URL"]))
    return INSPECT.get("/".join((provider, *rest[:1]))) or INSPECT.get(provider, ())
