//! What is left of a pack when writing it is broken off at any step.

/// Is told the steps of writing; an error breaks it off there.
pub(super) type Pass = Box<dyn FnMut(&'static str) -> linerate_core::Result<()>>;
