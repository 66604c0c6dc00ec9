//! Linerate measured against its peers.
