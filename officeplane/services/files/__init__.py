"""The bytes of documents: on their way in, put together from their pieces, and those that children made."""
