"""The setting `rag`: the pieces of a user's memory that fit a question best, and the model's own filter of them."""
