//! Journal, session directory, leases, private files.
