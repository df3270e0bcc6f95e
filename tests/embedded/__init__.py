"""Tests of the embedded servers, with real processes and real kills."""
