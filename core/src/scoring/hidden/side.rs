//! What hidden parents are told apart by.

/// Stands for the row of a word that is no parent.
pub(crate) const NO_PARENT: u32 = u32::MAX;

/// Which documents a hidden parent looks at.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Side {
    Class,
    Complement,
}
