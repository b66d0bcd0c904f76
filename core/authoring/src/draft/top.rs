//! The arguments that a whole `inputSchema` allows, in whatever part of it they are named.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The most parts of one schema that are looked at, and how deep one may lie.
const PARTS: usize = 1_000;
const DEPTH: usize = 8;

/// Keywords with alternatives, or with what holds on a condition.
const SEVERAL: [&str; 3] = ["anyOf", "oneOf", "allOf"];
const ONE: [&str; 3] = ["if", "then", "else"];
const BY_NAME: [&str; 1] = ["dependentSchemas"];

/// The arguments of a tool, as far as its schema tells.
pub(super) struct Top<'v> {
    /// The arguments that it names, each with what each part says of it.
    pub(super) properties: Vec<(&'v str, Vec<&'v Value>)>,
    /// Those that every call has.
    pub(super) required: Vec<&'v str>,
    /// Why a call may have arguments that are not among these; `None` if the schema says that it has none, or does not say.
    pub(super) others: Option<&'static str>,
    /// Where each name is among the properties.
    places: BTreeMap<&'v str, usize>,
    left: usize,
}

impl<'v> Top<'v> {
    pub(super) fn read(schema: Option<&'v Value>) -> Self {
        let mut top = Self {
            properties: Vec::new(),
            required: Vec::new(),
            others: None,
            places: BTreeMap::new(),
            left: PARTS,
        };
        if let Some(schema) = schema {
            top.part(schema, schema, DEPTH, true);
        }
        top
    }

    /// Returns `true` if the schema names the argument.
    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// `holds` is `true` for a part that holds for every call.
    fn part(&mut self, root: &'v Value, part: &'v Value, depth: usize, holds: bool) {
        let (Some(depth), Some(left)) = (depth.checked_sub(1), self.left.checked_sub(1)) else {
            self.others = Some("its schema has more parts than are looked at");
            return;
        };
        self.left = left;
        let Some(object) = part.as_object() else { return };
        for (name, property) in members(object, "properties") {
            let next = self.properties.len();
            let at = *self.places.entry(name).or_insert(next);
            match self.properties.get_mut(at) {
                Some((_, parts)) => parts.push(property),
                None => self.properties.push((name, vec![property])),
            }
        }
        if holds {
            let required = items(object, "required").filter_map(Value::as_str);
            self.required.extend(required);
        }
        let is_open = match object.get("additionalProperties") {
            Some(Value::Bool(is_open)) => *is_open,
            Some(others) => others.is_object(),
            None => false,
        };
        if is_open || members(object, "patternProperties").next().is_some() {
            self.others = Some("its schema allows arguments that it does not name");
        }
        if let Some(target) = object.get("$ref").and_then(Value::as_str) {
            match target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
                Some(found) => self.part(root, found, depth, holds),
                None => self.others = Some("a part of its schema is elsewhere"),
            }
        }
        for key in SEVERAL {
            for one in items(object, key) {
                self.part(root, one, depth, holds && key == "allOf");
            }
        }
        for one in ONE.iter().filter_map(|key| object.get(*key)) {
            self.part(root, one, depth, false);
        }
        for (_, one) in BY_NAME.iter().flat_map(|key| members(object, key)) {
            self.part(root, one, depth, false);
        }
    }
}

fn members<'v>(
    object: &'v Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'v str, &'v Value)> + use<'v> {
    let members = object.get(key).and_then(Value::as_object).into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

fn items<'v>(object: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    object.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_found_in_every_part_of_a_schema() {
        #[track_caller]
        fn check(schema: Value, names: &[&str], required: &[&str], is_whole: bool) {
            let top = Top::read(Some(&schema));
            let found: Vec<&str> = top.properties.iter().map(|(name, _)| *name).collect();
            assert_eq!(found, names, "{schema}");
            assert_eq!(top.required, required, "{schema}");
            assert_eq!(top.others.is_none(), is_whole, "{schema}");
        }
        let one = |name: &str| json!({"properties": {name: {"type": "string"}}, "required": [name]});
        check(one("a"), &["a"], &["a"], true);
        check(json!({"type": "object"}), &[], &[], true);
        check(json!({"anyOf": [one("a"), one("b")]}), &["a", "b"], &[], true);
        check(json!({"oneOf": [one("a"), one("a")]}), &["a"], &[], true);
        check(
            json!({"allOf": [one("a"), one("b")]}),
            &["a", "b"],
            &["a", "b"],
            true,
        );
        check(
            json!({"$ref": "#/$defs/x", "$defs": {"x": one("a")}}),
            &["a"],
            &["a"],
            true,
        );
        check(
            json!({"if": one("a"), "then": one("b"), "else": one("c")}),
            &["a", "b", "c"],
            &[],
            true,
        );
        check(json!({"dependentSchemas": {"a": one("b")}}), &["b"], &[], true);
        check(json!({"patternProperties": {"^x": {}}}), &[], &[], false);
        check(
            json!({"additionalProperties": {"type": "string"}}),
            &[],
            &[],
            false,
        );
        check(json!({"additionalProperties": true}), &[], &[], false);
        check(json!({"additionalProperties": false}), &[], &[], true);
        check(json!({"$ref": "https://example.com/x"}), &[], &[], false);
        check(json!({"$ref": "#"}), &[], &[], false);
    }
}
