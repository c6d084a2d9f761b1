//! Counts to scores: the terms of each event model, and a file for each family.

/// Declare an enum whose variants have names. `$parameter` is the parameter that takes them.
macro_rules! named_enum {
    (
        $(#[$enum_doc:meta])*
        $parameter:literal $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }
    ) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Return the variant of this name.
            pub fn named(name: &str) -> $crate::error::Result<Self> {
                let found = Self::ALL.iter().copied().find(|variant| variant.name() == name);
                found.ok_or_else(|| {
                    let allowed = Self::ALL.iter().map(|variant| variant.name());
                    let allowed = $crate::scoring::composition::listed(allowed);
                    let message = format!("{} must be {allowed}, not {name:?}", $parameter);
                    $crate::error::Error::Invalid(message)
                })
            }
        }
    };
}

pub mod chi_square;
pub mod composition;
pub(crate) mod cooccurrence;
pub mod correlation;
pub mod decision;
pub mod event_model;
pub mod events;
pub mod hidden;
pub mod last_message;
pub mod messages;
pub mod neighbourhood;
pub mod normalised;
pub mod one_dependence;
pub mod online_learning;
pub mod online_weights;
pub mod packaged;
pub mod ratios;
pub mod scorer;
mod top_k;
pub mod weights;
