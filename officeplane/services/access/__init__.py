"""Who calls, and with which key: keys are made, found again and revoked."""
