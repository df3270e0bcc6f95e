# One image for all processes: the API, the workers and the migration differ in their command.
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS build
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY officeplane officeplane
COPY workers workers
COPY lua lua
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation --no-index .

FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7
RUN useradd --system --create-home --uid 10001 officeplane
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 OFFICEPLANE_LOG_FORMAT=json
USER officeplane
WORKDIR /home/officeplane
EXPOSE 8001
ENTRYPOINT ["officeplane"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8001"]
