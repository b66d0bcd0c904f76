//! The parts of a tool's `inputSchema` that are evidence, and those that an annotation carries.

use serde_json::{Map, Value, json};

use super::top::Top;
use callgate_engine::text::escape_token;

/// The most parts of all schemas of one list that are looked at: a `$ref` can repeat a part, and parts of parts, without end.
const PARTS: usize = 200_000;

/// How many levels below an argument a part may lie.
const DEPTH: usize = 8;

/// One value that a call may hold: an argument, or a part of one.
#[derive(Debug)]
pub(super) struct Leaf<'v> {
    /// The argument that it is, or is a part of.
    pub(super) top: &'v str,
    /// The name of the argument, or a JSON Pointer.
    pub(super) place: String,
    /// The last name in that place.
    pub(super) name: &'v str,
    pub(super) facts: Facts<'v>,
}

/// The facts that a schema states about a value, whichever of its alternatives holds.
#[derive(Debug, Default)]
pub(super) struct Facts<'v> {
    /// `true` if it may be text.
    pub(super) is_text: bool,
    /// Every text that it may be; empty if it may be any.
    pub(super) choices: Vec<&'v str>,
    pub(super) formats: Vec<&'v str>,
    pub(super) patterns: Vec<&'v str>,
    pub(super) default: Option<&'v str>,
    /// `true` if it is null, an empty text or an empty list where a call does not give it.
    pub(super) is_empty_by_default: bool,
    pub(super) descriptions: Vec<&'v str>,
    /// `true` if parts of it have names that the schema does not give.
    pub(super) is_open: bool,
    /// `true` if it is nested too deep to be looked at.
    pub(super) is_deep: bool,
}

/// The leaves of the schemas of one list, as far as they are looked at.
#[derive(Debug)]
pub(super) struct Leaves {
    left: usize,
}

impl Default for Leaves {
    fn default() -> Self {
        Self { left: PARTS }
    }
}

struct Walk<'v, 'w> {
    root: &'v Value,
    top: &'v str,
    found: &'w mut Vec<Leaf<'v>>,
}

impl Leaves {
    /// The leaves of one argument: itself, unless it has parts with names.
    pub(super) fn of<'v>(&mut self, root: &'v Value, top: &'v str, schema: &'v Value) -> Vec<Leaf<'v>> {
        let mut found = Vec::new();
        let mut walk = Walk {
            root,
            top,
            found: &mut found,
        };
        self.look(&mut walk, None, top, schema, DEPTH);
        found
    }

    /// Looks at the part at `pointer`, which is `None` for the argument itself.
    fn look<'v>(
        &mut self,
        walk: &mut Walk<'v, '_>,
        pointer: Option<&str>,
        name: &'v str,
        schema: &'v Value,
        depth: usize,
    ) {
        let mut facts = Facts::default();
        let mut parts = Vec::new();
        self.gather(walk.root, schema, depth, &mut facts, &mut parts);
        let here = || pointer.map_or_else(|| format!("/{}", escape_token(walk.top)), str::to_owned);
        let (is_nested, above) = (!parts.is_empty(), here());
        for (segment, part_name, part) in parts {
            let Some(left) = depth.checked_sub(1) else {
                facts.is_deep = true;
                break;
            };
            let place = format!("{above}/{segment}");
            // A part of an array or a map without a name takes the name of that.
            self.look(walk, Some(&place), part_name.unwrap_or(name), part, left);
        }
        if !is_nested || facts.is_text || facts.is_open || facts.is_deep {
            walk.found.push(Leaf {
                top: walk.top,
                place: pointer.map_or_else(|| walk.top.to_owned(), str::to_owned),
                name,
                facts,
            });
        }
    }

    /// Gathers what the schema and its alternatives say. Parts are those with names, or objects in an array or a map.
    fn gather<'v>(
        &mut self,
        root: &'v Value,
        schema: &'v Value,
        depth: usize,
        facts: &mut Facts<'v>,
        parts: &mut Vec<(String, Option<&'v str>, &'v Value)>,
    ) {
        let (Some(left), Some(depth)) = (self.left.checked_sub(1), depth.checked_sub(1)) else {
            facts.is_deep = true;
            return;
        };
        self.left = left;
        let Some(object) = schema.as_object() else {
            // `true`, which allows everything.
            facts.is_text = true;
            return;
        };
        facts.read(object);
        let mut is_described = false;
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            is_described = true;
            match target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
                Some(found) => self.gather(root, found, depth, facts, parts),
                None => facts.is_text = true,
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for one in object.get(key).and_then(Value::as_array).into_iter().flatten() {
                is_described = true;
                self.gather(root, one, depth, facts, parts);
            }
        }
        let types = types(object);
        let allows = |name: &str| types.contains(&name) || types.is_empty() && !is_described;
        let properties = object.get("properties").and_then(Value::as_object);
        for (name, part) in properties.into_iter().flatten() {
            parts.push((escape_token(name), Some(name), part));
        }
        if let Some(map @ Value::Object(_)) = object.get("additionalProperties") {
            parts.push(("*".to_owned(), None, map));
        } else if types.contains(&"object") && properties.is_none_or(Map::is_empty) {
            facts.is_open = true;
        }
        let tuples = object
            .get("prefixItems")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let items = object.get("items").into_iter().flat_map(|items| match items {
            Value::Array(tuple) => tuple.iter().collect(),
            one => vec![one],
        });
        let mut has_items = false;
        for item in items.chain(tuples) {
            has_items = true;
            self.gather_item(root, item, depth, facts, parts);
        }
        facts.is_open |= types.contains(&"array") && !has_items;
        // Without a type, `properties` and `items` say what it is.
        let is_shaped = ["properties", "additionalProperties", "items", "prefixItems"]
            .iter()
            .any(|key| object.contains_key(*key));
        let is_closed = object.contains_key("enum") || object.contains_key("const");
        facts.is_text |= !is_closed && allows("string") && (types.contains(&"string") || !is_shaped);
    }

    /// An array of texts is judged as a whole; objects in it are parts.
    fn gather_item<'v>(
        &mut self,
        root: &'v Value,
        item: &'v Value,
        depth: usize,
        facts: &mut Facts<'v>,
        parts: &mut Vec<(String, Option<&'v str>, &'v Value)>,
    ) {
        let mut inner = Facts::default();
        let mut nested = Vec::new();
        self.gather(root, item, depth, &mut inner, &mut nested);
        if !nested.is_empty() || inner.is_open {
            parts.push(("*".to_owned(), None, item));
            return;
        }
        facts.is_text |= inner.is_text;
        facts.is_deep |= inner.is_deep;
        facts.choices.extend(inner.choices);
        facts.formats.extend(inner.formats);
        facts.patterns.extend(inner.patterns);
        facts.descriptions.extend(inner.descriptions);
    }
}

impl<'v> Facts<'v> {
    fn read(&mut self, object: &'v Map<String, Value>) {
        let text = |key| object.get(key).and_then(Value::as_str);
        self.formats.extend(text("format"));
        self.patterns.extend(text("pattern"));
        self.descriptions.extend(text("description"));
        self.default = self.default.or(text("default").filter(|text| !text.is_empty()));
        self.is_empty_by_default |= match object.get("default") {
            Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            _ => false,
        };
        let choices = object.get("enum").and_then(Value::as_array).into_iter().flatten();
        let choices = choices.chain(object.get("const")).filter_map(Value::as_str);
        self.choices.extend(choices);
    }

    /// The words that a call can choose from; `None` if it can hold any text.
    pub(super) fn closed_choices(&self) -> Option<&[&'v str]> {
        (!self.is_text && !self.choices.is_empty()).then_some(&self.choices)
    }
}

/// The types that a schema names.
fn types(object: &Map<String, Value>) -> Vec<&str> {
    match object.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The parts of a schema that an engine uses: which arguments there are, their types, and which are required.
pub(super) fn used(schema: Option<&Value>) -> Option<Value> {
    let schema = schema?;
    let mut kept = Map::new();
    kept.insert("type".to_owned(), json!("object"));
    let top = Top::read(Some(schema));
    let entries = top.properties.iter().map(|(name, parts)| {
        let mut used = parts.iter().map(|part| used_property(part));
        let first = used.next().unwrap_or_default();
        // Where two parts disagree, neither type is checked.
        let property = if used.all(|other| other == first) {
            first
        } else {
            json!({})
        };
        ((*name).to_owned(), property)
    });
    // Without any, an engine would let every argument pass.
    kept.insert("properties".to_owned(), Value::Object(entries.collect()));
    if !top.required.is_empty() {
        kept.insert("required".to_owned(), json!(top.required));
    }
    Some(Value::Object(kept))
}

fn used_property(property: &Value) -> Value {
    let mut kept = Map::new();
    if let Some(types) = used_types(property) {
        kept.insert("type".to_owned(), types);
    }
    if let Some(items) = property.get("items").and_then(used_types) {
        kept.insert("items".to_owned(), json!({"type": items}));
    }
    // A default says what a server takes where the argument is not given. One of a few words names nothing.
    let says = |default: &&Value| {
        default.is_null()
            || default.as_array().is_some_and(Vec::is_empty)
            || default.is_string() && !property.get("enum").is_some_and(Value::is_array)
    };
    if let Some(default) = property.get("default").filter(says) {
        kept.insert("default".to_owned(), default.clone());
    }
    Value::Object(kept)
}

/// The type of a value, or those of its alternatives if each names its own and no array is among them, since the types of
/// its items would be lost.
fn used_types(property: &Value) -> Option<Value> {
    if let Some(types) = property.get("type") {
        return Some(types.clone());
    }
    let alternatives = property
        .get("anyOf")
        .or_else(|| property.get("oneOf"))?
        .as_array()?;
    let mut types = Vec::new();
    for one in alternatives {
        let name = one.get("type")?.as_str().filter(|name| *name != "array")?;
        if !types.contains(&name) {
            types.push(name);
        }
    }
    (!types.is_empty()).then(|| json!(types))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(schema: Value) -> Vec<String> {
        let leaves = Leaves::default().of(&schema, "a", &schema);
        leaves
            .iter()
            .map(|leaf| {
                format!(
                    "{} {}{}",
                    leaf.place,
                    leaf.name,
                    if leaf.facts.is_text { " text" } else { "" }
                )
            })
            .collect()
    }

    #[test]
    fn the_leaves_are_what_has_no_named_parts() {
        for (schema, expected) in [
            (json!({"type": "string"}), vec!["a a text"]),
            (json!({"type": "integer"}), vec!["a a"]),
            (json!({}), vec!["a a text"]),
            (json!({"enum": ["x"]}), vec!["a a"]),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                vec!["a a text"],
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                vec!["a a text"],
            ),
            (
                json!({"type": "array", "items": {"type": "object", "properties": {"p/q": {"type": "string"}}}}),
                vec!["/a/*/p~1q p/q text"],
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"b": {}}}]}),
                vec!["/a/b b text", "a a text"],
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                vec!["/a/* a text"],
            ),
            (json!({"type": "object"}), vec!["a a"]),
            (
                json!({"$ref": "#/$defs/d", "$defs": {"d": {"type": "string"}}}),
                vec!["a a text"],
            ),
        ] {
            assert_eq!(places(schema.clone()), expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_repeats_itself_ends() {
        let schema = json!({
            "type": "object",
            "properties": {"b": {"$ref": "#"}, "c": {"$ref": "#"}},
        });
        let leaves = Leaves::default().of(&schema, "a", &schema);
        assert!(leaves.iter().any(|leaf| leaf.facts.is_deep));
        assert!(leaves.len() < 1_000, "{}", leaves.len());
    }

    #[test]
    fn what_an_engine_uses_of_a_schema_is_carried() {
        let schema = json!({
            "$schema": "x",
            "type": "object",
            "properties": {
                "a": {"type": "array", "items": {"type": "string", "description": "d"}, "minItems": 1},
                "b": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
                "c": {"anyOf": [{"type": "array"}, {"type": "null"}]},
                "d": true,
                "e": {"type": "string", "default": "."},
                "f": {"type": "string", "enum": ["list", "add"], "default": "list"},
                "g": {"type": "array", "items": {"type": "string"}, "default": []},
                "h": {"type": "integer", "default": 1},
            },
            "required": ["a"],
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "a": {"type": "array", "items": {"type": "string"}},
                "b": {"type": ["string", "null"], "default": null},
                "c": {},
                "d": {},
                "e": {"type": "string", "default": "."},
                "f": {"type": "string"},
                "g": {"type": "array", "items": {"type": "string"}, "default": []},
                "h": {"type": "integer"},
            },
            "required": ["a"],
        });
        assert_eq!(used(Some(&schema)), Some(expected));
        assert_eq!(used(None), None);
    }
}
