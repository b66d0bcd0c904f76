//! Regions with one verdict as the rows of a table that a person reads.

use callgate_engine::judge::StructuralRule;
use std::sync::Arc;

use indexmap::map::Entry;
use serde::Serialize;
use serde_json::Value;

use super::hosts::BY_OTHER_PROTOCOL;
use super::label::MATCHING;
use super::{Part, Place, Region, ToolRegions};
use callgate_engine::table::{Set, Table};

/// One argument of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The argument's name, or the JSON Pointer to its values.
    pub argument: String,
    /// Its roles.
    pub roles: Vec<String>,
    /// Descriptions of its value, of which one holds.
    pub is: Vec<String>,
}

/// Regions with one verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The arguments that conditions look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Column>,
    /// The other arguments; none where every call of the tool is judged alike.
    pub places: Vec<Column>,
    /// `allow`, `escalate` or `deny`.
    pub decision: &'static str,
    /// The rule that decides.
    pub rule: String,
    /// The layer whose verdict it is, where there are several; `None` too where they would send different texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The arguments of a call in the first of the regions.
    pub arguments: Value,
    /// The context that a host gives with that call, where the verdict depends on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
}

impl Column {
    pub(super) fn new(place: &Place) -> Self {
        Self {
            argument: place.argument.clone(),
            roles: place.roles.clone(),
            is: vec![place.is.clone()],
        }
    }
}

impl Column {
    /// The descriptions in fewer words: what is said of many directories or hosts alike is said once, and what stands for all
    /// others comes first.
    pub fn brief(&self) -> Vec<String> {
        let is_rest = |text: &&String| {
            let mut starts = ["any other", "elsewhere", "anywhere"].iter();
            starts.any(|start| text.starts_with(start)) || text.contains(MATCHING)
        };
        let (rest, named): (Vec<&String>, Vec<&String>) = self.is.iter().partition(is_rest);
        let mut brief: Vec<String> = Vec::new();
        let mut other_protocols = 0;
        for text in rest.into_iter().chain(named) {
            if text.starts_with(BY_OTHER_PROTOCOL) {
                other_protocols += 1;
                continue;
            }
            let said = match text.split_once(MATCHING) {
                Some((_, pattern)) => format!("what matches {pattern}"),
                None => text.clone(),
            };
            if !brief.contains(&said) {
                brief.push(said);
            }
        }
        if other_protocols > 0 {
            brief.push("URLs of other protocols".to_owned());
        }
        brief
    }
}

impl Row {
    /// Returns `true` if the calls are refused for their form, whatever the policy says.
    pub fn is_about_form(&self) -> bool {
        is_about_form(&self.rule)
    }

    /// Returns `true` if the row is about an argument without a role.
    pub fn is_about_others(&self) -> bool {
        !self.places.is_empty() && self.places.iter().all(|column| column.roles.is_empty())
    }
}

/// Returns `true` if the region is about an argument without a role.
pub(super) fn is_about_others(places: &[Arc<Place>]) -> bool {
    !places.is_empty() && places.iter().all(|place| place.roles.is_empty())
}

/// The rule about arguments that neither the annotation nor the schema names.
pub(super) const UNKNOWN_ARGUMENT: &str = StructuralRule::UnknownArgument.as_str();

/// Returns `true` if the rule refuses calls for their form.
pub(super) fn is_about_form(rule: &str) -> bool {
    let rules = [
        StructuralRule::UnresolvableValue.as_str(),
        UNKNOWN_ARGUMENT,
        StructuralRule::UnreadableArgument.as_str(),
    ];
    rules.contains(&rule)
}

impl ToolRegions {
    /// The tool as a map shows it, with these of its rows.
    pub fn map<'m>(&'m self, rows: &'m [&'m Row]) -> impl Serialize + 'm {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct ToolMap<'m> {
            server_name: &'m str,
            tool_name: &'m str,
            rows: &'m [&'m Row],
            #[serde(skip_serializing_if = "<[String]>::is_empty")]
            reads_below: &'m [String],
            inexact: &'m [String],
        }

        ToolMap {
            server_name: &self.server_name,
            tool_name: &self.tool_name,
            rows,
            reads_below: &self.reads_below,
            inexact: &self.inexact,
        }
    }

    /// The regions, those with one verdict together.
    pub fn rows(&self) -> Vec<Row> {
        let mut texts = Texts::default();
        let mut rows = Vec::new();
        for part in &self.parts {
            let drafts = part
                .regions
                .iter()
                .map(|region| Draft::new(part, region, &mut texts));
            rows.extend(merged(drafts.collect()));
        }
        merged(rows)
            .into_iter()
            .map(|draft| draft.finish(&texts))
            .collect()
    }
}

/// Each text once, and its number.
#[derive(Default)]
struct Texts<'r>(Set<&'r str>);

impl<'r> Texts<'r> {
    fn number(&mut self, text: &'r str) -> usize {
        self.0.insert_full(text).0
    }

    fn text(&self, number: usize) -> &'r str {
        self.0.get_index(number).copied().unwrap_or_default()
    }
}

/// A row while it is put together: texts are numbers.
struct Draft<'r> {
    part: &'r Part,
    /// The first of its regions.
    region: &'r Region,
    rule: usize,
    layer: usize,
    /// The argument of each column, and what it is.
    columns: Vec<(usize, Vec<usize>)>,
}

impl<'r> Draft<'r> {
    fn new(part: &'r Part, region: &'r Region, texts: &mut Texts<'r>) -> Self {
        let places = region.places.iter().map(|place| &**place);
        let columns = part.when.iter().chain(places);
        let columns = columns.map(|place| (texts.number(&place.argument), vec![texts.number(&place.is)]));
        Self {
            part,
            region,
            columns: columns.collect(),
            rule: texts.number(&region.rule),
            layer: texts.number(region.layer.as_deref().unwrap_or_default()),
        }
    }

    /// The key that tells rows apart, whatever one column is: the decision and its rule, then each argument with how many
    /// texts, and these.
    fn key(&self) -> (&'static str, Vec<usize>) {
        let mut key = vec![self.rule, self.layer];
        for (argument, is) in &self.columns {
            key.extend([*argument, is.len()]);
            key.extend(is);
        }
        (self.region.decision, key)
    }

    fn finish(self, texts: &Texts<'r>) -> Row {
        let places = self.region.places.iter().map(|place| &**place);
        let all = self.part.when.iter().chain(places).zip(self.columns);
        let mut columns = all.map(|(place, (_, is))| Column {
            argument: place.argument.clone(),
            roles: place.roles.clone(),
            is: is.into_iter().map(|text| texts.text(text).to_owned()).collect(),
        });
        Row {
            when: columns.by_ref().take(self.part.when.len()).collect(),
            places: columns.collect(),
            decision: self.region.decision,
            rule: self.region.rule.clone(),
            layer: self.region.layer.clone(),
            arguments: self.region.arguments.clone(),
            context: self.region.context.clone(),
        }
    }
}

/// The rows, those that differ in one column alone together.
fn merged(rows: Vec<Draft<'_>>) -> Vec<Draft<'_>> {
    let most = rows.iter().map(|row| row.columns.len()).max().unwrap_or_default();
    (0..most).rev().fold(rows, |rows, at| {
        let mut found: Table<(&str, Vec<usize>), Draft<'_>> = Table::default();
        for mut row in rows {
            let own = row.columns.get_mut(at).map(|(_, is)| std::mem::take(is));
            match found.entry(row.key()) {
                Entry::Occupied(mut known) => {
                    if let (Some((_, known)), Some(own)) = (known.get_mut().columns.get_mut(at), own) {
                        for text in own {
                            if !known.contains(&text) {
                                known.push(text);
                            }
                        }
                    }
                }
                Entry::Vacant(entry) => {
                    let row = entry.insert(row);
                    if let (Some((_, is)), Some(own)) = (row.columns.get_mut(at), own) {
                        *is = own;
                    }
                }
            }
        }
        found.into_values().collect()
    })
}

/// Merges the items that differ in one column only. `key` gives a text and the columns that tell items apart.
pub(super) fn merged_by_key<T>(
    items: Vec<T>,
    column: impl Fn(&mut T) -> Option<&mut Column>,
    key: impl Fn(&T) -> (String, Vec<Column>),
) -> Vec<T> {
    let mut found: Table<String, T> = Table::default();
    for mut item in items {
        let own = column(&mut item).map(|one| std::mem::take(&mut one.is));
        let (mut whole, columns) = key(&item);
        for column in columns {
            whole.push('\0');
            whole.push_str(&column.argument);
            for text in &column.is {
                whole.push('\u{1}');
                whole.push_str(text);
            }
        }
        if let Some(known) = found.get_mut(&whole) {
            if let (Some(known), Some(own)) = (column(known), own) {
                let new: Vec<String> = own.into_iter().filter(|one| !known.is.contains(one)).collect();
                known.is.extend(new);
            }
        } else {
            if let (Some(place), Some(own)) = (column(&mut item), own) {
                place.is = own;
            }
            found.insert(whole, item);
        }
    }
    found.into_values().collect()
}
