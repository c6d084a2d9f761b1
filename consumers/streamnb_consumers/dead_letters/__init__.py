"""Dead letters read again, chosen, and sent back, each of them once."""
