# w2vneg with its code compiled ahead:  docker build -t w2vneg . && docker run -v "$PWD:/work" w2vneg train …
# Compiled code is for the processor that builds the image; on another one the first run compiles again.
FROM python:3.12-slim

COPY . /src
RUN pip install --no-cache-dir "/src[zstd,parquet,safetensors]" && rm -rf /src

# The cache is for every user: `docker run --user` may be any. Data are encoded into it; mount it to keep them.
ENV W2VNEG_CACHE=/cache
RUN w2vneg warmup --loss relaxed --quiet && \
    w2vneg warmup --loss ns --quiet && \
    w2vneg warmup --for pairs --for baskets --quiet && \
    chmod -R a+rwX /cache

WORKDIR /work
ENTRYPOINT ["w2vneg"]
CMD ["--help"]
