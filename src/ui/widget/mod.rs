//! Widgets: drawn from plain arguments only, correct at every size from 1×1.
