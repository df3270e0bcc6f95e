"""What goes wrong with embedded servers, in words for the person who started them."""


class EmbeddedError(Exception):
    """An embedded server cannot be had; the message is one line that says why and what to do."""
