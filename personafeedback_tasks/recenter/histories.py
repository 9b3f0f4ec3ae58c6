"""Users, their conversations and new prompts: what the chain of stages begins with.

A folder has these files, one JSON object per line; any of those of `data.py` may be beside them:

    users.jsonl           user_id, language optional (en)
    conversations.jsonl   user_id, conversation [{role, content}], source (human or synthetic), date optional (YYYY-MM-DD)
    prompts.jsonl         id, prompt, sensitive optional (true), topic optional

Every prompt is for every user. A conversation has no id of its own: it is `USER-` and 8 hex digits of its messages' SHA-256.
"""
