//! Law J: what the writer of nodes leaves in a journal that fails as it likes.
