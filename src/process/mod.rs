//! Spawning commands under a keeper.
