"""An embedding server as users of FastAPI and sentence-transformers write it."""
