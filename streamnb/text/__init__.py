"""Tokenizer, checks of messages and labels, and conversions of data frames."""
