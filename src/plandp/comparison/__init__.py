"""Which estimator should I use?  Predictions from public numbers, and measurements on data declared public."""
