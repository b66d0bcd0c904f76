//! The repository whose remotes a call means.

use super::Case;
use super::canonical::Operand;
use crate::bind::Value;
use crate::path::CanonicalPath;

impl<'p, 'c> Case<'p, 'c, '_> {
    /// The repository whose remotes the call means: the argument `path`, else the first path, else the current
    /// directory. `None` where it has no canonical form.
    pub(super) fn repository(&mut self) -> Option<String> {
        if let Some(known) = &self.repository {
            return known.clone();
        }
        let is_named = self.path_argument().is_some() || self.first_place().is_some();
        let found = match is_named {
            true => self.repository_argument(),
            false => Some(self.program.current.to_string()),
        };
        self.repository = Some(found.clone());
        found
    }

    /// The canonical path of the repository that an argument names.
    fn repository_argument(&mut self) -> Option<String> {
        let named = self.path_argument();
        if let Some(operand) = self.addressed_repository(named.is_some()) {
            // Where its place is not known the call is denied already.
            return operand.located().map(|located| located.path.as_str().to_owned());
        }
        match named {
            Some(text) => {
                let path = self.canonicalizer.path_like(&text).ok();
                path.map(|path| path.as_str().to_owned())
            }
            None => self
                .first_place()
                .and_then(Operand::path)
                .map(CanonicalPath::to_string),
        }
    }

    /// The repository as the agent may know it.
    pub(super) fn repository_shown(&self, repository: &str) -> String {
        let located = self.operands.iter().filter_map(Operand::located);
        let mut named = located.filter(|located| located.path.as_str() == repository);
        named
            .next()
            .map_or_else(|| repository.to_owned(), |located| located.address.clone())
    }

    /// The first path or address.
    fn first_place(&self) -> Option<&Operand<'p, 'c>> {
        let places = self.program.path_roles.union(self.program.address_roles);
        self.operands
            .iter()
            .find(|operand| operand.bound.role_set.intersects(places))
    }

    fn path_argument(&self) -> Option<String> {
        let mut members = self.call.arguments.members().iter();
        let (_, value) = members.find(|(name, _)| name == "path")?;
        match value.read(1).ok()?.as_ref() {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// The address that names the repository: the one of the argument `path`, or of the first place without that argument.
    fn addressed_repository(&self, has_path: bool) -> Option<&Operand<'p, 'c>> {
        let operand = if has_path {
            self.operands.iter().find(|operand| {
                let bound = &operand.bound;
                bound.place.is_empty() && bound.argument.is_some() && self.name_of(bound.argument) == "path"
            })
        } else {
            self.first_place()
        };
        operand.filter(|operand| operand.bound.role_set.intersects(self.program.address_roles))
    }
}
