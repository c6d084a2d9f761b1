"""The experiments, one file a paper, and how a paper prepares its texts."""
