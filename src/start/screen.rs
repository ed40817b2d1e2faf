//! The screen, wired: sessions are opened and left until the person quits.
