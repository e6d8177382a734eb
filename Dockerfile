# One image for web, workers and the migration; what it runs is its argument.
FROM python:3.11-slim-bookworm

# The user has a number, so that Kubernetes can see that it is not root, and a name, without
# which the embedded PostgreSQL of `beleg up` does not start.
RUN useradd --uid 10001 --user-group --create-home beleg \
    && install --directory --owner=beleg --group=beleg --mode=700 /data

# Read scans and images where no vision model is set, and texts aloud where no provider is.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tesseract-ocr tesseract-ocr-deu espeak-ng \
    && rm -rf /var/lib/apt/lists/*

ENV BELEG_DATA=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

WORKDIR /opt/beleg

# Before the code, so that a change of code does not install them again.
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes --only-binary=:all: -r requirements.txt

COPY pyproject.toml README.md LICENSE NOTICE ./
COPY app app
COPY domain domain
COPY adapters adapters
COPY workers workers
COPY templates templates
COPY migrations migrations
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

# The code that runs is the installed one.
WORKDIR /
USER 10001:10001
EXPOSE 8470
STOPSIGNAL SIGTERM
ENTRYPOINT ["beleg"]
CMD ["web", "--host", "0.0.0.0"]
