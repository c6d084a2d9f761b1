"""What is computed from the counts now and then: weights, packages, paths, fits."""
