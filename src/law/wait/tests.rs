//! Law J: every wait, exhaustively and over random clocks.
