//! Errors of the core, and enums whose variants have names. No input causes a panic.

use std::fmt;

/// An error of the core. The bindings map each variant to one Python exception class.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// A parameter, count or weight outside its range.
    Invalid(String),
    /// The message to unlearn or subtract was never learned with these words, class and weight.
    NotLearned(String),
    /// Snapshot bytes that are truncated, altered or have another version.
    Corrupt(String),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid(text) | Error::NotLearned(text) | Error::Corrupt(text) => {
                formatter.write_str(text)
            }
        }
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

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
                    let allowed = $crate::error::listed(allowed);
                    let message = format!("{} must be {allowed}, not {name:?}", $parameter);
                    $crate::error::Error::Invalid(message)
                })
            }
        }
    };
}

/// Write names as `'a', 'b' or 'c'`.
pub fn listed(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    match &names[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}
