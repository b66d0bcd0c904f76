//! Everything that a world names, for whoever looks at all calls at once.

use std::collections::BTreeSet;

use super::condition::Condition;
use super::operations::{Commands, OperationRule};
use super::place::Action;
use super::{World, find};
use crate::path::lexical;

impl World {
    /// Every mode that a row is about.
    pub fn modes(&self) -> BTreeSet<&str> {
        let visible = self.visibility.rows().map(|(key, _)| &*key.mode);
        let operable = self.operations.rows().map(|(key, _)| &*key.mode);
        visible.chain(operable).collect()
    }

    /// The names right below the root that rows are about.
    pub fn subdirectories(&self, root: &str) -> BTreeSet<&str> {
        let visible = self.visibility.rows().map(|(key, _)| key);
        let operable = self.operations.rows().map(|(key, _)| key);
        let own = visible.chain(operable).filter(|key| *key.root == *root);
        own.filter_map(|key| key.subdirectory.as_deref()).collect()
    }

    /// The commands of the tool that a rule or an area names.
    pub fn commands_of(&self, tool: &str) -> BTreeSet<&str> {
        let named = self.rules().filter_map(|rule| match &rule.commands {
            Commands::Pairs(pairs) => Some(pairs),
            Commands::Exec => None,
        });
        let areas = self.areas.iter().map(|(pair, _)| pair);
        let pairs = named.flat_map(|pairs| pairs.iter()).chain(areas);
        let own = pairs.filter(|(of, _)| **of == *tool);
        own.map(|(_, command)| &**command).collect()
    }

    /// Returns `true` if one of the tool's commands removes things.
    pub fn has_removals(&self, tool: &str) -> bool {
        self.commands_of(tool).into_iter().any(|command| {
            self.removes(&Action {
                tool,
                command: Some(command),
            })
        })
    }

    /// The conditions that calls of the tool may have to meet.
    pub fn conditions_for(&self, tool: &str) -> impl Iterator<Item = &Condition> {
        let is_about = move |rule: &&OperationRule| match &rule.commands {
            Commands::Exec => *self.exec_tool == *tool,
            Commands::Pairs(pairs) => pairs.iter().any(|(of, _)| **of == *tool),
        };
        let operable = self.rules().filter(is_about).flat_map(|rule| &rule.conditions);
        let visible = self.visibility.rows().flat_map(|(_, conditions)| conditions);
        visible.chain(operable)
    }

    fn rules(&self) -> impl Iterator<Item = &OperationRule> {
        self.operations.rows().flat_map(|(_, rules)| rules.iter())
    }

    /// The path that an address stands for, as it is written: links are not followed.
    pub fn lexical_path(&self, address: &str) -> Option<String> {
        let (base, rest) = address.split_once('/')?;
        let directory = match (base.strip_prefix("root:"), base.strip_prefix("mod:")) {
            (Some(key), _) => find(&self.roots, key)?,
            (None, Some(name)) => find(&self.mounts, name)?,
            (None, None) => return None,
        };
        Some(lexical(&format!("{}/{rest}", directory.path), "/").into_owned())
    }

    /// Returns `true` if both worlds say the same.
    pub fn is_same(&self, other: &Self) -> bool {
        let text = |world: &Self| format!("{world:?}");
        text(self) == text(other)
    }
}
