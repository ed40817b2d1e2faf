//! Restoring files: over random histories of tools and of other people.
