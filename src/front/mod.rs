//! What is not the screen.
