//! The type of an argument in a tool's `inputSchema`.

/// The types of JSON Schema ([validation, section 6.1.1](https://json-schema.org/draft/2020-12/json-schema-validation#section-6.1.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    Array,
    Boolean,
    /// A number without a fraction.
    Integer,
    Null,
    Number,
    Object,
    String,
}

/// The types that a schema names for one argument, and for the items of its array; empty where it names none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaType {
    pub own: Vec<JsonType>,
    pub items: Vec<JsonType>,
    /// The value that stands for an absent one, as far as that matters.
    pub default: Option<SchemaDefault>,
    /// `true` if the argument is not required, so that null stands for an absent one.
    pub is_optional: bool,
}

/// The `default` of an argument: a value that an approval or a role looks at, or something that stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaDefault {
    Null,
    EmptyText,
    EmptyList,
    Text(Box<str>),
    Bool(bool),
    Integer(i64),
}

impl SchemaType {
    /// Returns `true` if the schema accepts a value of this type.
    pub fn accepts(&self, one: JsonType) -> bool {
        one.is_among(&self.own) || (one == JsonType::Null && self.is_optional)
    }
}

impl JsonType {
    /// The type of this name.
    pub fn find(name: &str) -> Option<Self> {
        Some(match name {
            "array" => Self::Array,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "null" => Self::Null,
            "number" => Self::Number,
            "object" => Self::Object,
            "string" => Self::String,
            _ => return None,
        })
    }

    /// The type with its article.
    pub fn described(self) -> &'static str {
        match self {
            Self::Array => "an array",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Null => "null",
            Self::Number => "a number",
            Self::Object => "an object",
            Self::String => "a string",
        }
    }

    /// Returns `true` if a schema of these types accepts a value of this one.
    pub fn is_among(self, types: &[Self]) -> bool {
        types.is_empty() || types.contains(&self) || (self == Self::Integer && types.contains(&Self::Number))
    }
}
