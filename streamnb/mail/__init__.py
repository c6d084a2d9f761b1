"""Mail to texts and words: headers, parts and charsets, whatever is broken about them."""
