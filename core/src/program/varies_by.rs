//! What the verdicts of calls that have the same names can depend on.

use super::{ListMatcher, Program, Rule, Tool, ToolMember};
use crate::model::Roles;
use crate::net::plain_host;
use crate::role::{Category, RoleId, RoleSet, Step};

/// How long a plain value may be, in bytes.
const LONGEST: usize = 1024;

/// What the verdicts of one layout's calls vary by, as long as the values that matter are plain texts and the host is
/// asked nothing.
///
/// Most rules are about names: which tool may be called at all. Then what stands under an identifier matters only in
/// that it can be judged, and a face that has judged one such call knows the verdict of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariesBy {
    /// Nothing: there is one verdict.
    Nothing,
    /// The origin (scheme and host) of the URL in the member at that place: there is one verdict for each.
    Origin(usize),
    /// Each value may have its own.
    Values,
}

impl VariesBy {
    /// What a plain text in the member at that place adds to the key of its call: the origin of a URL, and nothing of any
    /// other text. `None` for what is not plain, and where each value may have a verdict
    /// of its own.
    ///
    /// Plain are texts of 1 to 1,024 printable ASCII characters that do not begin with `-`, `.`, `/` or `~`, and such
    /// URLs without a space whose host is written in its canonical form, with neither a port nor a user.
    pub(crate) fn key_of(self, at: usize, text: &str) -> Option<&str> {
        // Without a way out of the loop it looks at many bytes at a time.
        let all = |is_plain: fn(&u8) -> bool| text.bytes().fold(true, |all, byte| all & is_plain(&byte));
        if text.is_empty() || text.len() > LONGEST {
            return None;
        }
        match self {
            Self::Values => None,
            Self::Origin(origin) if origin == at => origin_of(text).filter(|_| all(u8::is_ascii_graphic)),
            Self::Nothing | Self::Origin(_) => {
                let is_plain =
                    !text.starts_with(['-', '.', '/', '~']) && all(|byte| matches!(byte, b' '..=b'~'));
                is_plain.then_some("")
            }
        }
    }
}

/// The origin of a URL, where nothing behind it can matter.
fn origin_of(url: &str) -> Option<&str> {
    let host = plain_host(url)?;
    let (scheme, _) = url.split_once("://")?;
    url.get(..scheme.len() + "://".len() + host.len())
}

impl Program {
    /// What the verdicts of calls of the tool that have those members vary by. Whatever is not known to be blind to
    /// values is taken to look at them.
    pub(crate) fn varies_by<'m>(
        &self,
        tool: &Tool,
        members: impl Iterator<Item = &'m ToolMember>,
    ) -> VariesBy {
        let looks_elsewhere = self.world.is_some()
            || self.ceiling.is_some()
            || self.limits.value_bytes < LONGEST
            || !tool.semantics.arg_schema.arg_aliases.is_empty();
        let is_plain = tool.arguments.iter().all(|argument| {
            let roles = argument.roles.possible();
            let mut definitions = roles.map(|role| (role, self.registry.get(role)));
            matches!(argument.roles, Roles::Fixed(_))
                && argument.name.first().is_some()
                && argument.segments().is_empty()
                && definitions.all(|(role, definition)| {
                    let steps = [Some(definition.canonicalize), definition.extract_policy_value];
                    let is_named = matches!(definition.category, Category::Identifier | Category::Opaque);
                    !steps.contains(&Some(Step::Callback)) && (is_named || role == RoleId::FETCH_URL)
                })
        });
        let rules = self.buckets(tool).flat_map(|bucket| &bucket.all);
        let mut rules = rules.filter_map(|rule| self.rule(*rule));
        if looks_elsewhere || !is_plain || !rules.all(|rule| heeds_origins_alone(rule, tool.roles)) {
            return VariesBy::Values;
        }
        let bears_url = |member: &ToolMember| {
            let arguments = member.arguments.iter().filter_map(|at| tool.arguments.get(*at));
            let mut roles = arguments.flat_map(|argument| argument.roles.possible());
            roles.any(|role| role == RoleId::FETCH_URL)
        };
        let mut urls = members.enumerate().filter(|(_, member)| bears_url(member));
        match (urls.next(), urls.next()) {
            (None, _) => VariesBy::Nothing,
            (Some((at, _)), None) => VariesBy::Origin(at),
            (Some(_), Some(_)) => VariesBy::Values,
        }
    }
}

/// Whether all that the rule looks at in the values of a tool with these roles are the hosts of URLs to fetch.
fn heeds_origins_alone(rule: &Rule, roles: RoleSet) -> bool {
    let is_blind = |named: RoleSet| !named.intersects(roles);
    let heeds_origins = |named: RoleSet| named.intersection(roles) == RoleId::FETCH_URL.into();
    rule.paths.is_none()
        && rule
            .domains
            .as_ref()
            .is_none_or(|(named, _)| is_blind(*named) || heeds_origins(*named))
        && rule.lists.iter().all(|list| {
            let compares_hosts = matches!(list.matcher, ListMatcher::Domains(_));
            is_blind(list.roles) || (compares_hosts && heeds_origins(list.roles))
        })
}
