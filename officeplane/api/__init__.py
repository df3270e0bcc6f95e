"""The HTTP API: parse, call one service, shape the answer. Nothing outside knows of HTTP."""
