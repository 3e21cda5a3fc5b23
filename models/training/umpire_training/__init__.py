"""Training of the decision model `kev`: prompts, data, model, training, calibration, evaluation."""
