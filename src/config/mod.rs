//! What was written (flags, environment, settings) and what it means.
