# w2vneg with its code compiled ahead:  docker build -t w2vneg . && docker run --user "$(id -u)" -v "$PWD:/work" w2vneg train …
# Compiled code runs on every x86-64 processor with AVX2. Others: --build-arg CPU=generic; ARM and the builder's own: CPU=
ARG BASE=python:3.12.8-slim-bookworm

FROM ${BASE} AS wheel
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel /src

FROM ${BASE}
COPY --from=wheel /wheel /wheel
RUN pip install --no-cache-dir "$(ls /wheel/*.whl)[zstd,parquet,safetensors]" && rm -r /wheel \
    && mkdir -m 777 /cache /work

# The cache is for every user: `docker run --user` may be any. Data are encoded into it; mount it to keep them.
ARG CPU=x86-64-v3
ENV W2VNEG_CACHE=/cache W2VNEG_CPU=${CPU}
USER 1000:1000
RUN w2vneg warmup --loss relaxed --quiet \
    && w2vneg warmup --loss ns --quiet \
    && w2vneg warmup --for pairs --for baskets --quiet \
    && chmod -R a+rwX /cache/*

WORKDIR /work
HEALTHCHECK --interval=1h --timeout=2m CMD ["w2vneg", "doctor"]
ENTRYPOINT ["w2vneg"]
CMD ["--help"]
