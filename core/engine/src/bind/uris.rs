//! Values that say by their own text what they name: URIs, and what people type into a browser (SPEC §4, §5).

use std::borrow::Cow;

use crate::model::Argument;
use crate::net::{Uri, begins_with_host, is_about_blank};
use crate::role::{RoleId, RoleSet};

/// A value that was read from a URI, or from a text that stands for one.
pub struct ReadUri<'c> {
    /// The text as it was given.
    pub(super) given: Cow<'c, str>,
    pub(crate) form: UriForm,
}

/// The form in which a value was given.
pub enum UriForm {
    /// A path.
    Path,
    /// The `file:` URI of a path, with a query and a fragment.
    File { rest: Box<str> },
    /// A URL without its scheme.
    Web,
    /// A text that programs read differently.
    Unclear,
}

/// A text as its argument's annotation says that it is read.
pub(super) struct Reading {
    /// The text that is judged, where it is not the given one.
    pub(super) text: Option<String>,
    /// The roles of what it names.
    pub(super) roles: RoleSet,
    pub(super) form: Option<UriForm>,
}

/// Reads the text of a value under these roles. `None` if its roles do not depend on it.
pub(super) fn read(text: &str, roles: RoleSet, argument: &Argument) -> Option<Reading> {
    if !roles.intersects(RoleSet::OF_URIS) || !argument.is_narrowed() {
        return None;
    }
    let path = RoleSet::from(RoleId::READ_PATH);
    let web = RoleSet::from(RoleId::FETCH_URL);
    let mut judged = None;
    let (roles, form) = if argument.is_uri {
        match Uri::read(text) {
            Uri::Path => (path, Some(UriForm::Path)),
            Uri::File { path: named, rest } => {
                judged = Some(named);
                (path, Some(UriForm::File { rest: rest.into() }))
            }
            Uri::Web => (web, None),
            Uri::Nothing => (RoleSet::default(), None),
            Uri::Other => (RoleSet::OF_URIS, Some(UriForm::Unclear)),
        }
    } else if is_about_blank(text) {
        (RoleSet::default(), None)
    } else if begins_with_host(text) {
        judged = Some(format!("http://{text}"));
        (web, Some(UriForm::Web))
    } else {
        (web, None)
    };
    Some(Reading {
        text: judged,
        roles,
        form,
    })
}

/// The roles in their order, out of those that URIs may have.
pub(super) fn roles(roles: RoleSet) -> &'static [RoleId] {
    const PATH: RoleId = RoleId::READ_PATH;
    const WEB: RoleId = RoleId::FETCH_URL;
    match (roles.contains(PATH), roles.contains(WEB)) {
        (true, true) => &[PATH, WEB],
        (true, false) => &[PATH],
        (false, true) => &[WEB],
        (false, false) => &[],
    }
}
