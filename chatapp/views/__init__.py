"""Commands and pages: one function each, synchronous, a form post or an htmx request alike."""
