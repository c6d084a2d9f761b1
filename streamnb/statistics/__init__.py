"""What is computed from the counts now and then: weights, bags, paths, fits."""
