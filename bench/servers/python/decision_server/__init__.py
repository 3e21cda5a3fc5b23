"""A decision server as users of FastAPI and onnxruntime write it, on the graphs that umpire runs."""
