"""Messages to tokens and labels: the tokeniser, what a message may be, the form of documents."""
