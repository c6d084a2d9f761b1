"""Everything that all models share: learning, predicting, thresholds, forgetting, model files."""
