"""What agents do over HTTP: register, claim, and what follows with a claim."""
