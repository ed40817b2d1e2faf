//! Overlays: a stack in the model, the first to see a key.
