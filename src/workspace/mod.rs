//! What is known of a working directory.
