//! Enums whose variants are words in documents.

/// A closed set of words.
pub trait Named: Copy + 'static {
    /// Every variant with its word, in the order of their declaration.
    const NAMES: &'static [(&'static str, Self)];

    /// Every word.
    fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(name, _)| *name)
    }

    /// The variant with this word.
    fn find(name: &str) -> Option<Self> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, variant)| *variant)
    }
}

/// Declares an enum with the word of each variant, which is read and written in JSON too.
#[macro_export]
macro_rules! __named {
    ($(#[$meta:meta])* pub enum $type:ident { $($(#[$of:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$of])* $variant,)+ }

        impl $crate::named::Named for $type {
            const NAMES: &'static [(&'static str, Self)] = &[$(($name, Self::$variant),)+];
        }

        impl $type {
            /// Every variant, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word for it in documents.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The variant with this word, if there is one.
            pub fn parse(name: &str) -> Option<Self> {
                $crate::named::Named::find(name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(deserializer)?;
                let unknown = || serde::de::Error::custom(format_args!("unknown word `{name}`"));
                Self::parse(&name).ok_or_else(unknown)
            }
        }
    };
}

#[doc(inline)]
pub use __named as named;
