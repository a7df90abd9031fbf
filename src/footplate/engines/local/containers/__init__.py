"""Tasks as containers of Docker or Podman, through the API that both speak."""
