"""Statistics of the counts that several families share: events, losses, fits, relevance."""
