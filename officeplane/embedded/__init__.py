"""Own Postgres and Valkey servers for a first run and for tests, from the binaries that come with the installation."""
