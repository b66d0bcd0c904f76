//! Regions with one verdict as the rows of a table that a person reads.

use serde::Serialize;
use serde_json::Value;

use super::hosts::BY_OTHER_PROTOCOL;
use super::label::MATCHING;
use super::{Place, Region, ToolRegions};
use crate::table::Table;

/// What one argument is in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The argument's name, or the JSON Pointer to its values.
    pub argument: String,
    /// Its roles.
    pub roles: Vec<String>,
    /// What its value is: one of these.
    pub is: Vec<String>,
}

/// Regions with one verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// What arguments that conditions look at are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Column>,
    /// What the arguments are; none where every call of the tool is judged alike.
    pub places: Vec<Column>,
    /// `allow`, `escalate` or `deny`.
    pub decision: &'static str,
    /// The rule that decides.
    pub rule: String,
    /// The arguments of a call in the first of the regions.
    pub arguments: Value,
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
    /// What the value is in fewer words: what is said of many directories or hosts alike is said once, and what stands for all
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
    /// Whether the calls are refused for their form, whatever the policy says.
    pub fn is_about_form(&self) -> bool {
        is_about_form(&self.rule)
    }

    /// Whether the row is about an argument without a role.
    pub fn is_about_others(&self) -> bool {
        !self.places.is_empty() && self.places.iter().all(|column| column.roles.is_empty())
    }
}

/// Whether the rule refuses calls for their form.
pub(super) fn is_about_form(rule: &str) -> bool {
    let rules = [
        "structural-unresolvable-value",
        "structural-unknown-argument",
        "structural-unreadable-argument",
    ];
    rules.contains(&rule)
}

impl ToolRegions {
    /// The regions, those with one verdict together.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for part in &self.parts {
            let row = |region: &Region| Row {
                when: part.when.iter().map(Column::new).collect(),
                places: region.places.iter().map(Column::new).collect(),
                decision: region.decision,
                rule: region.rule.clone(),
                arguments: region.arguments.clone(),
            };
            rows.extend(merged(part.regions.iter().map(row).collect()));
        }
        merged(rows)
    }
}

/// The rows, those that differ in one column alone together.
fn merged(rows: Vec<Row>) -> Vec<Row> {
    let most = rows.iter().map(Row::columns).max().unwrap_or_default();
    (0..most).rev().fold(rows, |rows, at| {
        merged_by_key(
            rows,
            |row| row.column(at),
            |row| {
                let judged = format!("{} {}", row.decision, row.rule);
                (judged, row.when.iter().chain(&row.places).cloned().collect())
            },
        )
    })
}

/// The items, those together of which everything is the same but what one column is. `key` gives a text and the columns that
/// tell items apart.
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

impl Row {
    fn columns(&self) -> usize {
        self.when.len() + self.places.len()
    }

    fn column(&mut self, at: usize) -> Option<&mut Column> {
        self.when.iter_mut().chain(&mut self.places).nth(at)
    }
}
