"""What a part is, the axes that parts are choices of, and a composition: one part of each."""
